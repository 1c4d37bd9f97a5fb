"""Lists that a file tells of beside its links, as many as may be."""

from archiver.formats.given_file import GivenFile
from archiver.formats.seeds import tidy_tag
from archiver.model.entry_list import MOST_LISTS, MOST_PATHS, EntryList
from archiver.model.folder_path import folder_names, folder_path
from archiver.wire.text import well_formed

_MOST_QUERY = 2_000


class FileLists:
    """Takes lists for a file, and counts those that are too many."""

    def __init__(self, file: GivenFile) -> None:
        self._file = file
        self._most, self._room = MOST_LISTS, MOST_PATHS

    def take(self, given: str, query: str) -> None:
        """Take a list, by its path; what has no name is passed over."""
        path = folder_path(map(tidy_tag, folder_names(given)))
        query = well_formed(query)
        if not path:
            return
        if len(query) > _MOST_QUERY or not self._most or len(path) > self._room:
            self._file.lists_left_out += 1
            return
        self._most, self._room = self._most - 1, self._room - len(path)
        self._file.lists.append(EntryList(path, query))
