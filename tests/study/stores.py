"""Changes result stores as oas itself would: with the checksums that belong to the change."""

import contextlib
import sqlite3
import struct


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}"


def typed(cell):
    if cell is None:
        return b"n;"
    if isinstance(cell, int):
        return f"i{cell};".encode()
    if isinstance(cell, float):
        return f"d{struct.unpack('<Q', struct.pack('<d', cell))[0]:x};".encode()
    return f"s{len(cell.encode())}:{cell};".encode()


def checksum(rows):
    return fnv(b"".join(b"".join(map(typed, row)) + b"\n" for row in rows))


@contextlib.contextmanager
def changed(path):
    """The database, to be changed; then units, tally and facts get their checksums."""
    database = sqlite3.connect(path)
    with database:
        yield database
        total = 0
        for *head, _ in database.execute("SELECT * FROM units").fetchall():
            rows = database.execute(f'SELECT * FROM "{head[3]}" WHERE unit = ? ORDER BY line',
                                    head[:1]).fetchall()
            head[11:] = [len(rows), checksum([row[2:] for row in rows])]
            total += int(checksum([head]), 16)
            database.execute("UPDATE units SET lines = ?, rows_checksum = ?, checksum = ? "
                             "WHERE number = ?", [*head[11:], checksum([head]), head[0]])
        database.execute("UPDATE tally SET units = (SELECT count(*) FROM units), sum = ?",
                         [f"{total % 2**64:016x}"])
        facts = database.execute("SELECT key, value FROM study WHERE key <> 'checksum' "
                                 "ORDER BY key")
        database.execute("UPDATE study SET value = ? WHERE key = 'checksum'",
                         [checksum([[cell for row in facts for cell in row]])])
    database.close()
