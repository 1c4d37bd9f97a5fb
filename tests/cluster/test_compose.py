"""Services of deploy/compose.yaml, run as processes with the servers of the tests."""

import asyncio
import re
from pathlib import Path

import pytest
import yaml
from aiohttp import ClientSession, CookieJar
from click.testing import CliRunner

from archiver.cli.main import cli
from archiver.config import Settings, variable
from tests.cluster.commands import archiver, run
from tests.cluster.s3_servers import free_port

COMPOSE = yaml.safe_load((Path(__file__).parents[2] / "deploy/compose.yaml").read_text())
SERVICES = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"].startswith("archiver:")}
RUN = {name: each for name, each in OURS.items() if "command" in each}
PASSWORD = "a password of tests"


def test_images_have_versions_and_services_wait_for_each_other():
    assert all(re.search(r":v?\d+\.\d+", each["image"]) for each in SERVICES.values())
    assert "healthcheck" in SERVICES["postgres"]
    for name, each in SERVICES.items():
        for needed, condition in each.get("depends_on", {}).items():
            assert needed in SERVICES, name
            assert condition["condition"].startswith("service_"), name
    mounted = {each.split(":")[0] for one in SERVICES.values() for each in one.get("volumes", ())}
    assert mounted == COMPOSE["volumes"].keys()


def test_processes_have_separate_data_directories_and_known_settings():
    names = {variable(name) for name in Settings.__dataclass_fields__}
    folders = [each["volumes"] for each in RUN.values()]

    assert len({str(each) for each in folders}) == len(folders) == 4
    for each in RUN.values():
        named = {name for name in each["environment"] if name.startswith("ARCHIVER_")}
        assert named <= names
        assert CliRunner().invoke(cli, [*each["command"], "--help"]).exit_code == 0


def test_only_one_machine_compacts():
    serving = [each["environment"] for each in RUN.values() if each["command"] == ["serve"]]

    assert len([each for each in serving if each.get("ARCHIVER_QUIET_HOUR") != "-1"]) == 1


@pytest.fixture
def environment(address, store, tmp_path):
    """Return the environment of a service, with the addresses of this machine's servers."""

    def variables_of(name: str) -> dict[str, str]:
        variables = {key: str(value) for key, value in OURS[name]["environment"].items()}
        for ours in (
            "PGPASSWORD",
            "AWS_ENDPOINT_URL",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
        ):
            del variables[ours]  # the fixtures have set them
        shared = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": store.address}
        return (
            variables
            | shared
            | {"ARCHIVER_PASSWORD": PASSWORD, "ARCHIVER_DATA": str(tmp_path / name)}
        )

    return variables_of


async def wait_until_healthy(session: ClientSession, port: int) -> None:
    while True:
        try:
            async with session.get(f"http://127.0.0.1:{port}/healthz") as answer:
                assert answer.status == 200
                return
        except OSError:
            await asyncio.sleep(0.05)


async def test_front_ends_share_sessions_and_a_url_saved_at_one_is_shown_by_the_other(
    live, environment
):
    """The password was set with the first one."""
    ports = free_port(), free_port()
    variables = [environment(name) for name in ("front-1", "front-2")]
    for each in variables:
        del each["ARCHIVER_PASSWORD"]
        each["ARCHIVER_HOST"] = "0.0.0.0"
    assert (await run("password", input_data=f"{PASSWORD}\n", **variables[0]))[0] == 0
    one, other = (
        archiver("serve", ARCHIVER_PORT=str(port), **each)
        for port, each in zip(ports, variables, strict=True)
    )
    first, second = fronts = [f"http://127.0.0.1:{port}" for port in ports]
    jar, url = CookieJar(unsafe=True), live.article("foxes")
    async with one, other:
        async with ClientSession(cookie_jar=jar) as browser:
            await asyncio.gather(*(wait_until_healthy(browser, port) for port in ports))
            await _wait_for_access(browser, second, is_in=False)
            assert await _post(browser, first, "/login", password=PASSWORD) == 200
            await _wait_for_access(browser, second, is_in=True)

            body = {"urls": [url]}
            async with browser.post(f"{first}/api/v1/entries", json=body) as response:
                assert response.status < 300, await response.text()
            document = []
            while not document:
                async with browser.get(f"{second}/api/v1/entries?q=clever") as response:
                    document = (await response.json())["items"]
                await asyncio.sleep(0.05)

            cookies = {each.key: each.value for each in browser.cookie_jar}
            assert await _post(browser, second, "/logout") == 200

        # A copy of the cookie is not valid any more.
        async with ClientSession(cookies=cookies, cookie_jar=CookieJar(unsafe=True)) as browser:
            for each in fronts:
                await _wait_for_access(browser, each, is_in=False)
    assert (await run("crawl", **environment("worker-1")))[0] == 0


async def _post(browser: ClientSession, front: str, action: str, **form: str) -> int:
    """Send a form."""
    async with browser.post(front + action, data=form) as answer:
        return answer.status


async def _wait_for_access(browser: ClientSession, front: str, *, is_in: bool) -> None:
    """Wait until a browser has access or, without ``is_in``, no access."""
    while True:
        async with browser.get(f"{front}/snapshots", allow_redirects=False) as answer:
            if (answer.status == 200) is is_in:
                return
        await asyncio.sleep(0.05)
