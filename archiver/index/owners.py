"""The processes that hold jobs or read files: who opens the archive asks whether one is dead."""

from sqlalchemy import select

from archiver.index.connection import AsyncConnection
from archiver.index.schema import imports, job
from archiver.model.job import State


async def of_jobs(conn: AsyncConnection) -> list[str]:
    """Every process that holds a job."""
    rows = await conn.execute(select(job.c.owner).where(job.c.state == State.FETCHING).distinct())
    return [owner for owner in rows.scalars() if owner]


async def of_imports(conn: AsyncConnection) -> list[str]:
    """Every process that reads a file, or was to read one."""
    rows = await conn.execute(
        select(imports.c.owner).where(imports.c.reading == 1, imports.c.owner.is_not(None))
    )
    return sorted({owner for owner in rows.scalars() if owner is not None})
