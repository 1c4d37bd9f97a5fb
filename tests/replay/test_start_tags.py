"""Active attributes are renamed where scripts may not run; the rest is unchanged."""

from itertools import islice, product
from string import ascii_lowercase

import pytest

DATA = 'type="text/x-archived-script"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<script>x</script>", f"<script {DATA}>x</script>"),
        ("<script async>x</script>", f"<script {DATA} async>x</script>"),
        ("<SCRIPT language=vbscript>", f"<SCRIPT {DATA} language=vbscript>"),
        ("<script type>", f"<script {DATA} data-archived-type>"),
        ("<script type=''>", f"<script {DATA} data-archived-type=''>"),
        ("<script type=module>", f"<script {DATA} data-archived-type=module>"),
        ("<script type=importmap>", f"<script {DATA} data-archived-type=importmap>"),
        ("<script type=' Text/Jscript'>", f"<script {DATA} data-archived-type=' Text/Jscript'>"),
        ("<script type=application/ld+json>{}</script>", None),
        ("<script type=text/template><p onclick=x></script>", None),
        ("<svg><script>x</script></svg>", f"<svg><script {DATA}>x</script></svg>"),
        ("<p onclick=x>", "<p data-archived-onclick=x>"),
        (
            "<p title=x\nonEnd='x' onend=y>",
            "<p title=x\ndata-archived-onend='x' data-archived-onend=y>",
        ),
        ("<p id=x/onend=y title='z'onend=x>", "<p id=x/onend=y title='z'data-archived-onend=x>"),
        ("<svg onload=x><g onend=y>", "<svg data-archived-onload=x><g data-archived-onend=y>"),
        ("<x-a onfoo=x one only>", "<x-a data-archived-onfoo=x one only>"),
        ("<input autofocus>", "<input data-archived-autofocus>"),
        ("<meta http-equiv=refresh>", "<meta data-archived-http-equiv=refresh>"),
        ("<iframe srcdoc='<script>x</script>'>", f"<iframe srcdoc='<script {DATA}>x</script>'>"),
        ("<noscript><p>x</noscript>", None),
        ("<link rel=stylesheet>", None),
        ("<link rel='preload stylesheet'>", None),
        ("<link href=# rel=preload as=image>", "<link href=# data-archived-rel=preload as=image>"),
        ("<link href=# rel=modulepreload>", "<link href=# data-archived-rel=modulepreload>"),
        ("<link href=# rel=PREFETCH>", "<link href=# data-archived-rel=PREFETCH>"),
        ("<object data=a.SWF?b>", "<object data-archived-data=a.SWF?b>"),
        ("<embed src=# type=a/flash>", "<embed data-archived-src=# data-archived-type=a/flash>"),
        ("<embed type=image/png><object type=text/html>", None),
    ],
)
def test_active_attributes_are_renamed(html, before, after):
    rested = html(before)

    assert rested == (before if after is None else after)
    assert html(before, seed=1) == rested


def test_a_tag_with_many_handlers_takes_linear_time(html):
    """Comparing every handler with all others would not finish in practice."""
    names = ["on" + "".join(each) for each in islice(product(ascii_lowercase, repeat=4), 20_000)]
    markup = f"<p {' '.join(names)}{f' {names[0]}' * len(names)}>"

    rested = html(markup)

    assert rested.count(" data-archived-on") == 2 * len(names)
    assert rested.replace("data-archived-", "") == markup
