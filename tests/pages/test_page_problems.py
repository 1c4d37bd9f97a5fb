"""Pages that are empty without scripts, and bot walls, are recognised from their source."""

import pytest

from archiver.pages.page_problems import wall_in_headers
from archiver.pages.requisites import discover_requisites

SCRIPT = '<script src="/app.js"></script>'
LINKS = "".join(f"<a href=/{n}>Category number {n} of the shop</a> " for n in range(40))
NAV = f"<header><nav>{LINKS}</nav></header>"
FOOT = f"<footer>{'Words of the company and its address. ' * 10}</footer>"
SHELLS = {
    "react": f'<title>App</title><body><div id="root"></div>{SCRIPT}',
    "vue, with a placeholder": f'<body><div id="app">Loading…</div>{SCRIPT}',
    "next, client side": f'<body><div id="__next"></div>{SCRIPT}',
    "angular": f"<body><app-root></app-root>{SCRIPT}",
    "redoc": f'<body><redoc spec-url="a.yaml"></redoc>{SCRIPT}',
    "docsify": '<body><div id="app"></div><script>window.$docsify = {}</script>' + SCRIPT,
    "flutter: a body with a script": '<body><script src="flutter.js"></script>',
    "asks for scripts": f"<body><p>One moment.</p><noscript>Enable JavaScript.</noscript>{SCRIPT}",
    "a footer only": f'<body><section id="root"></section><footer>Part of it.</footer>{SCRIPT}',
    "all program": f"<body><p>Demo</p><script>{'run();' * 3000}</script>",
    "hidden until it has begun": f'<body><div id="app"><p hidden>{"word " * 99}</p></div>{SCRIPT}',
    **{
        f"its frame, and {name}": f"<body>{NAV}{middle}{FOOT}{SCRIPT}"
        for name, middle in {
            "a hole": "<div id=m></div>",
            "an empty main": "<main>\n</main>",
            "a main without content": "<main><div class=x></div></main>",
            "a skeleton": "<main><div class='card skeleton-line'></div></main>",
            "words to wait by": "<div>Loading…</div>",
            "other words to wait by": "<section><p>Bitte warten …</p></section>",
            "a spinner": "<main><div role=progressbar></div></main>",
            "a busy region": "<div aria-busy=true><h2>Results</h2></div>",
            "an element of its own": "<app-root>Please wait while this loads</app-root>",
            "a headline": "<main><h1>Kite 3000</h1><div id=m></div></main>",
            "a notice": f"<div id=m></div><div class=cookie-banner>{'We use cookies. ' * 30}</div>",
            "a root": "<div id=root><p>Starting</p></div>",
            "fields of a template": "<div><h1>{{ title }}</h1><p>{{ text }}</p></div>",
            "a fallback": "<div></div><noscript>Bitte JavaScript aktivieren.</noscript>",
            "a request": "<main><h1>Kite</h1><p>This site requires JavaScript.</p></main>",
            "blocks for text": "<main><p>████ ███</p><p>...</p></main>",
            **{
                words: f"<main><p>{words}</p></main>"
                for words in (
                    "Fetching content",
                    "Inhalt wird geladen …",
                    "Идёт загрузка…",
                    "ロード中...",
                    "加载中、请稍候",
                    "불러오는 중...",
                    "Ładowanie…",
                    "Bezig met laden…",
                )
            },
        }.items()
    },
    "links as its frame": f"<body><div class=top>{LINKS}</div><main>Loading...</main>{SCRIPT}",
    "leads on when it has loaded": "<body onload=\"location = '/next'\">",
    "leads on by a script": "<body><script>location.href = '/next'</script>",
}
UNSURE = [
    f"{NAV}{middle}{FOOT}{SCRIPT}"
    for middle in (
        "<div ng-view></div>",
        "<div x-data='{}'><template x-for='i in a'><p x-text=i></p></template></div>",
        "<main><h1>Kites</h1><div hx-get=/text hx-trigger=load></div></main>",
        "<p><span id=text></span></p>",
        "<main><img src=spinner.gif></main>",
        "<main><h1>Kite</h1><img src=kite.jpg width=800 height=400><div id=text></div></main>",
        "<main><h1>Names</h1><table><tbody></tbody></table></main>",
        "<main><h1>Results</h1><ul></ul></main>",
        f"<main><h1>Kite</h1><div id=text></div><section>{LINKS}</section></main>",
        f"<div class=row><div id=text></div><div>{'About the author. ' * 20}</div></div>",
        f"<div id=root></div><div>{'About this site. ' * 99}</div>",
    )
]
"""Pages that may be complete, or not, without their scripts."""
WHOLE = {
    "short, and no script": "<body><p>It works!</p>",
    "short, and counted": f"<body><h1>It works!</h1><p>This is the default page.</p>{SCRIPT}",
    "a picture, and counted": f'<body><img src="a.png">{SCRIPT}',
    "a form, and counted": f'<body><form><input name="q"></form>{SCRIPT}',
    "a filled root": f'<body><div id="root"><p>{"word " * 60}</p></div>{SCRIPT}',
    "data in a script": '<body><div id="root"></div><script type="application/ld+json">{}</script>',
    "a long text that asks for scripts": (
        f"<body><p>{'word ' * 60}</p><noscript>Please enable JavaScript.</noscript>{SCRIPT}"
    ),
    "an empty root beside a text": f'<body><p>{"word " * 60}</p><div id="app"></div>{SCRIPT}',
    "an article beside a skeleton": (
        f"<body>{NAV}<article>{'word ' * 60}</article><div class=skeleton></div>{SCRIPT}"
    ),
    "a frame of names and a text": (
        f"<body class='header sidebar'><div class='menu'><main>{'word ' * 60}</main></div>{SCRIPT}"
    ),
    "a list of links": f"<body>{NAV}<main>{LINKS}</main><div id=overlay></div>{SCRIPT}",
    "a video": f"<body>{NAV}<main><video src=a.mp4></video><div id=m></div></main>{SCRIPT}",
    "a frame without scripts": f"<body>{NAV}<main>Loading…</main>{FOOT}",
    "frames": '<frameset><frame src="a.html"></frameset>',
}
WALLS = {
    "Cloudflare": "<title>Just a moment...</title><script>window._cf_chl_opt = {}</script>",
    "DataDome": "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>",
    "HUMAN": '<title>Access to this page has been denied</title><div id="px-captcha"></div>',
    "Akamai": "<TITLE>Access Denied</TITLE><p>Reference #18.2d3d1602.1700000000.1",
    "Imperva": '<iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31">Request</iframe>',
    "Kasada": "<script>window.KPSDK={};</script><script src='/1/2/ips.js?x=1'></script>",
    "Anubis": (
        "<title>Making sure</title>"
        '<script id="anubis_challenge" type="application/json">{}</script>'
    ),
    "Cloudflare, that blocks": "<title>Attention Required! | Cloudflare</title><h1>Sorry</h1>",
    "Imperva, that asks": "<title>Pardon Our Interruption...</title><h1>Pardon</h1>",
    "Sucuri": (
        "<title>You are being redirected...</title><noscript>Javascript is required.</noscript>"
        "<script>var s={},u,c,U,r,i,l=0,a,e=eval,sucuri_cloudproxy_js='',S='cz0i';</script>"
    ),
    "AWS WAF": (
        "<title></title><script>window.awsWafCookieDomainList = [];</script>"
        "<script src='https://a.token.awswaf.com/a/challenge.js'></script>"
    ),
    "AWS WAF, with a puzzle": "<title>Human</title><script>window.gokuProps = {};</script>",
}
"""Walls by provider."""
PARKED = {
    "Sedo": '<title>fox.example</title><script src="//img.sedoparking.com/js/jquery.js"></script>',
    "Bodis": "<html data-adblockkey=x><body><script>window.park = 'eyJ1dWlk';</script>",
    "GoDaddy": "<script>window.onload=function(){window.location.href='/lander'}</script>",
    "a dealer in names": (
        '<title>fox.example is for sale</title><a href="https://www.hugedomains.com/">Buy</a>'
    ),
}


def look(html):
    return discover_requisites(html, "https://example.org/", 10)


@pytest.mark.parametrize("name", SHELLS)
def test_an_empty_shell_needs_a_browser(name):
    result = look(SHELLS[name])

    assert result.needs_browser
    assert not result.wall


@pytest.mark.parametrize("name", WHOLE)
def test_one_sign_is_not_enough(name):
    assert not look(WHOLE[name]).needs_browser


def test_a_page_with_a_gap_or_little_text_may_need_a_browser():
    long = f"{NAV}<main><p>{'word ' * 99}</p></main>{FOOT}{SCRIPT}"

    for page in UNSURE:
        assert look(page).may_need_browser, page
        assert not look(page).needs_browser, page
    assert not look(long).may_need_browser
    assert not look(UNSURE[0].replace(SCRIPT, "")).may_need_browser


@pytest.mark.parametrize("name", WALLS)
def test_walls_are_recognised(name):
    assert look(WALLS[name]).wall == name.partition(",")[0]


@pytest.mark.parametrize("name", WALLS)
def test_pages_about_walls_are_not_walls(name):
    assert not look(f"{WALLS[name]}<article>{'They keep programs out. ' * 60}</article>").wall


def test_scripts_of_bot_protection_on_complete_pages_are_not_walls():
    added = (
        '<title>Shop</title><script src="/_Incapsula_Resource?SWJIYLWA=1"></script>'
        '<script src="https://js.datadome.co/tags.js"></script>'
        '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script><p>A shop.</p>'
    )

    assert not look(added).wall


@pytest.mark.parametrize(
    ("field", "value", "guard"),
    [
        ("cf-mitigated", "challenge", "Cloudflare"),
        ("cf-mitigated", "none", ""),
        ("x-amzn-waf-action", "challenge", "AWS WAF"),
        ("x-amzn-waf-action", "captcha", "AWS WAF"),
        ("x-amzn-waf-action", "count", ""),
        ("x-vercel-mitigated", "Challenge ", "Vercel"),
        ("x-vercel-mitigated", "deny", ""),
    ],
)
def test_a_response_header_may_declare_a_challenge(field, value, guard):
    assert wall_in_headers([("server", "cloudflare"), (field, value)]) == guard


@pytest.mark.parametrize("name", PARKED)
def test_a_parked_domain_has_the_name_of_its_seller(name):
    assert look(PARKED[name]).parked == name


@pytest.mark.parametrize("name", PARKED)
def test_pages_about_parked_domains_are_not_parked(name):
    whole = f"{PARKED[name]}<article>{'word ' * 200}</article>"

    assert not look(whole).parked
