"""How seeds were received: new, known, or merged into what is there. Pure.

``MERGED`` of what a person pastes: it waits already. Of the rows of a file: that file has brought
its entry, or its entry was here and the row says what that did not; so a file that is imported
twice brings nothing but ``KNOWN`` ones the second time, however often it repeats them.
"""

from collections.abc import Collection, Mapping, Sequence

from archiver.model.seed import Received, Reception, Seed


def of_seeds(
    seeds: Sequence[Seed],
    ids: Mapping[str, int],
    *,
    added: Collection[int],
    merged: Collection[int],
    jobs: Mapping[int, int],
) -> list[Received]:
    """One result a seed, in order.

    Args:
        seeds: those; the same URL may come more than once.
        ids: of their entries, by hash_url.
        added: entries that are new, or for which a job was made.
        merged: those that count as merged; those that were added do when they come again.
        jobs: open ones, by entry.
    """
    results, seen = [], set()
    for seed in seeds:
        entry_id = ids[seed.hash_url]
        reception = Reception.KNOWN
        if entry_id in added and entry_id not in seen:
            reception = Reception.ADDED
        elif entry_id in added or entry_id in merged:
            reception = Reception.MERGED
        seen.add(entry_id)
        results.append(Received(seed.hash_url, seed.url, reception, jobs.get(entry_id)))
    return results
