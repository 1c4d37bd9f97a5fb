"""Settings that users change, stored in ``settings.toml`` of the data directory."""

import asyncio
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archiver.config import (
    MAX_SITES,
    NEVER_IN_FILE,
    SETTINGS,
    SETTINGS_FILE,
    SITES,
    InvalidSettings,
    Kind,
    Settings,
    SiteRule,
    Source,
    invalid_reason,
    parse_site_rule,
    parse_site_rules,
    read_settings,
    variable,
)
from archiver.errors import InputError
from archiver.helpers import AtomicFile
from archiver.model.message import Message, marked

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

MAX_BYTES = 1 << 20
NOT_VALID = marked("settings.toml in the data directory is not valid: {why} Correct or delete it.")


@dataclass(frozen=True, slots=True)
class Preference:
    """A setting with its value.

    Attributes:
        name: name of the setting.
        value: stored value as text; the items of a list are separated by commas.
        in_force: value that this process uses, as text. It differs from ``value`` if the file was
            changed since the process read it.
        source: where the value comes from.
        is_fixed: whether a flag or environment variable sets the value.
        default: default value as text.
        kind: type of the value.
    """

    name: str
    value: str
    in_force: str
    source: Source
    is_fixed: bool
    default: str
    kind: Kind


class InvalidValues(InputError):
    """Values that are invalid; ``reasons`` has the reason for each, by the name of the setting."""

    def __init__(
        self, reasons: Mapping[str, Message | str], text: str, /, **values: object
    ) -> None:
        super().__init__(text, **values)
        self.reasons = reasons


class Preferences:
    """Reads and changes the settings of an archive."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = AtomicFile(settings.data / SETTINGS_FILE)

    async def all(self) -> dict[str, Preference]:
        """Return all settings except the password, as they are stored now, by name.

        Raises:
            InputError: ``settings.toml`` was edited and is no longer valid.
        """
        try:
            current = await asyncio.to_thread(reread, self._settings)
        except InvalidSettings as error:
            raise InputError(NOT_VALID, why=str(error)) from error
        return {
            name: _preference(current, self._settings, name)
            for name in SETTINGS
            if name != "password"
        }

    async def change(self, values: Mapping[str, str | None]) -> bool:
        """Store values; None removes a stored value, so that the default applies.

        Return whether a stored setting differs from the one in force, because of this or an earlier
        change. Such a setting takes effect when services are restarted.

        Raises:
            InputError: a value is invalid, or the setting can't be changed.
        """
        await asyncio.to_thread(self._change, values)
        return await asyncio.to_thread(reread, self._settings) != self._settings

    async def site_rules(self) -> dict[str, SiteRule]:
        """Return the rules of sites by host, sorted.

        Raises:
            InputError: ``settings.toml`` was edited and is no longer valid.
        """
        rules = await asyncio.to_thread(self._site_rules)
        return dict(sorted(rules.items()))

    async def set_site_rule(self, host: str, values: Mapping[str, Any]) -> None:
        """Change values of the rule of a host.

        Values may be typed or text. A value that is empty or false is removed from the rule, and a
        rule without values is deleted. The change takes effect within a second.

        Raises:
            InputError: a value is invalid, or there are too many rules.
        """

        def rewrite(document: "TOMLDocument") -> None:
            import tomlkit  # noqa: PLC0415 - slow to import

            sites = document.setdefault(SITES, tomlkit.table(is_super_table=True))
            rule = {**sites.get(host, {}), **values}
            changed_rule = {
                name: value
                for name, value in rule.items()
                if value not in ("", "false") and value is not False
            }
            try:
                parsed = parse_site_rule(changed_rule)
            except InvalidSettings as error:
                raise InvalidValues(
                    error.reasons, "The rule is not valid: {why}", why=str(error)
                ) from error
            if host not in sites and len(sites) >= MAX_SITES:
                raise InputError(
                    "You can have at most {most} site rules. Remove one first.", most=MAX_SITES
                )
            if changed_rule:
                sites[host] = {name: getattr(parsed, name) for name in changed_rule}
            else:
                sites.pop(host, None)

        await asyncio.to_thread(self._rewrite, rewrite)

    async def remove_site_rule(self, host: str) -> bool:
        """Remove the rule of a host; return whether there was one."""
        return await asyncio.to_thread(
            self._rewrite, lambda document: document.get(SITES, {}).pop(host, None)
        )

    def _site_rules(self) -> dict[str, SiteRule]:
        try:
            document = tomllib.loads((self._file.read(MAX_BYTES) or b"").decode())
            return parse_site_rules(document.get(SITES, {}))
        except ValueError as error:
            raise InputError(NOT_VALID, why=str(error)) from error

    def _change(self, values: Mapping[str, str | None]) -> None:
        parsed = {name: self._parse(name, value) for name, value in values.items()}

        def rewrite(document: "TOMLDocument") -> None:
            for name, value in parsed.items():
                if value is not None:
                    document[name] = value
                elif name in document:
                    del document[name]
            fixed = {name: getattr(self._settings, name) for name in self._settings.fixed}
            tables = {name: value for name, value in document.unwrap().items() if name != SITES}
            self._check({**tables, **fixed})

        self._rewrite(rewrite)

    def _rewrite(self, change: "Callable[[TOMLDocument], object]") -> bool:
        """Change the file; return whether anything changed."""
        # tomlkit is slow to import, and only needed for changes.
        import tomlkit  # noqa: PLC0415
        from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

        with self._file.locked():
            before = (self._file.read(MAX_BYTES) or b"").decode()
            try:
                document = tomlkit.parse(before)
            except TOMLKitError as error:
                raise InputError(NOT_VALID, why=str(error)) from error
            change(document)
            after = tomlkit.dumps(document)
            if after == before:
                return False
            self._file.write(after.encode())
        return True

    def _check(self, values: Mapping[str, Any]) -> None:
        try:
            read_settings({**values, "data": "/nonexistent"}, {})
        except InvalidSettings as error:
            raise InvalidValues(
                error.reasons, "These settings cannot be combined: {why}", why=str(error)
            ) from error

    def _parse(self, name: str, value: str | None) -> Any:
        if name not in SETTINGS:
            raise InputError("“{name}” is not a setting that can be changed here.", name=name[:100])
        if name in NEVER_IN_FILE:
            raise InputError(
                "“{name}” can't be stored in settings.toml. Start archiver with {flag} or "
                "{variable}.",
                name=name,
                flag=f"--{name.replace('_', '-')}",
                variable=variable(name),
            )
        if name in self._settings.fixed:
            raise InputError(
                "“{name}” is set by a flag or environment variable; change it there.", name=name
            )
        if value is None:
            return None
        kind = SETTINGS[name].kind
        try:
            parsed = kind.dump(kind.read(value))
        except ValueError as error:
            why = invalid_reason(error)
            raise InvalidValues({name: why}, "{name} {why}.", name=name, why=why) from error
        return parsed if parsed != _dumped(name, SETTINGS[name].default) else None


def _preference(settings: Settings, running: Settings, name: str) -> Preference:
    setting = SETTINGS[name]
    return Preference(
        name,
        _text(name, getattr(settings, name)),
        _text(name, getattr(running, name)),
        settings.source(name),
        name in settings.fixed,
        _text(name, setting.default),
        setting.kind,
    )


def reread(settings: Settings) -> Settings:
    """Return the settings with the current content of ``settings.toml``.

    Flags and environment variables keep their values.

    Raises:
        InvalidSettings: the file is invalid.
    """
    fixed = {name: getattr(settings, name) for name in settings.fixed}
    current = read_settings(fixed | {"data": settings.data}, {})
    return replace(current, fixed=settings.fixed)


def _dumped(name: str, value: Any) -> Any:
    kind = SETTINGS[name].kind
    return kind.dump(kind.read(value)) if value is not None else None


def _text(name: str, value: Any) -> str:
    kind = SETTINGS[name].kind
    return kind.show(kind.read(value)) if value is not None else ""
