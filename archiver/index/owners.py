"""The processes that hold jobs or read files: who opens the archive asks whether one is dead."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.schema import imports, job
from archiver.model.job import State

_OF_LEASED = select(func.min(job.c.owner).label("owner")).where(job.c.state == State.FETCHING)
_OWNERS = _OF_LEASED.cte("owners", recursive=True)
_NEXT = _OF_LEASED.where(job.c.owner > _OWNERS.c.owner).correlate(_OWNERS).scalar_subquery()
_EACH = _OWNERS.union_all(select(_NEXT).where(_OWNERS.c.owner.is_not(None)))
"""From one to the next by their index: to look at each lease takes as long as there are leases."""
_OF_JOBS = select(_EACH.c.owner).where(_EACH.c.owner.is_not(None))


async def of_jobs(conn: AsyncConnection) -> list[str]:
    """Every process that holds a job."""
    return [*(await conn.execute(_OF_JOBS)).scalars()]


async def of_imports(conn: AsyncConnection) -> list[str]:
    """Every process that reads a file, or was to read one."""
    rows = await conn.execute(
        select(imports.c.owner).where(imports.c.reading == 1, imports.c.owner.is_not(None))
    )
    return sorted({owner for owner in rows.scalars() if owner is not None})
