"""The histories. Each is named for the rule that it checks; `id` is a key that no step changes."""

from history import (  # fmt: skip
    History, append, commit_deltas, convert, create, create_branch, delete, delete_keys, equality_deletes, java, made, merge, nested_equality_deletes,
    spark, spark_append, spark_delete, spark_update, spark_upgrade, sql_catalog, update, upgrade, upsert,
    upsert_via_equality,
)


# ---- rows
def numbered(first: int, last: int, **columns) -> list[dict]:
    """Rows with ids first .. last - 1; a column is a function of the id."""
    return [{"id": id, **{name: of(id) for name, of in columns.items()}} for id in range(first, last)]


PLAIN = "id BIGINT, v STRING, n INT"


def plain(first: int, last: int) -> list[dict]:
    return numbered(first, last, v=lambda id: f"v{id}", n=lambda id: None if id % 7 == 0 else id * 2)


REGIONAL = "id BIGINT, region STRING, ts TIMESTAMP, s STRING"


def region(id: int):
    return None if id % 11 == 0 else ("eu", "us", "ap")[id % 3]


def regional(first: int, last: int) -> list[dict]:
    """A NULL region now and then; hours over the turn of a year; short and long texts."""
    ts = lambda id: f"20{23 + id % 4 // 2}-{('12-31', '01-01')[id % 4 // 2]}T{(22 + id) % 24:02}:{id % 60:02}:00.000001Z"  # noqa: E731
    return numbered(first, last, region=region, ts=ts, s=lambda id: None if id % 13 == 0 else f"{chr(97 + id % 3)}ü{id}")


TYPES = (
    "id BIGINT, b BOOLEAN, i INT, f FLOAT, d DOUBLE, dec9 DECIMAL(9,2), dec38 DECIMAL(38,10), dt DATE, ts TIMESTAMP_NTZ, "
    "tstz TIMESTAMP, s STRING, bin BINARY, st STRUCT<a: INT, b: STRING, c: STRUCT<x: DOUBLE>>, li ARRAY<INT>, m MAP<STRING, BIGINT>"
)


def typed(id: int) -> dict:
    special = [0.5, "NaN", "Infinity", "-Infinity", -0.0, 0.0, 1e-30, 123456.75]
    row = {
        "id": id,
        "b": id % 2 == 0,
        "i": id * 7 - 2**31 if id % 2 else 2**31 - 1 - id,
        "f": special[id % 8] if id % 8 != 6 else 0.375,
        "d": special[(id + 3) % 8],
        "dec9": f"{id - 3}.{id % 100:02}",
        "dec38": f"-1234567890123456789012345{id:03}.0123456789",
        "dt": f"19{69 + id % 2}-0{1 + id % 9}-1{id % 10}",
        "ts": f"19{69 + id % 3}-12-31T23:59:59.{id:06}",
        "tstz": f"2024-02-{10 + id % 20}T00:00:00.{999999 - id:06}Z",
        "s": ("", "ä", "日本" * 12, "\U0001f600" * 20, "x" * 40, "\uffff" * 18)[id % 6],
        "bin": ("", "00", "ff" * 20, f"{id:04x}")[id % 4],
        "st": {"a": id % 5, "b": None if id % 2 else "n", "c": None if id % 3 else {"x": id / 4}},
        "li": [[], [id], [None, -id, 0]][id % 3],
        "m": [[], [["k", id]], [["a", None], ["k", 1]]][id % 3],
    }
    # Each column is NULL in some rows.
    names = list(row)[1:]
    return {**row, names[id % len(names)]: None}


# Spark writes what is odd in SQL; the row of the model is beside it.
ODD = ["a/b=c %20 ü", "x y", "100%", "..", "", None, "日本/語", "a+b&c?d#e", "new\\nline", "%2F", "q'uote", 'd"q', "a:b", "~|*", "a.b"]  # fmt: skip


def odd(first: int, last: int) -> list[dict]:
    names = {"a.b/c=d %20 ü": lambda id: ODD[id % len(ODD)], "sp ace": lambda id: f"s {id % 2}%", 'qu"o`te\'s': lambda id: id * 3}
    return numbered(first, last, **names, st=lambda id: {"in ner.%": id} if id % 4 else None)


# ---- which rows, and what they become
def among(*ids):
    return lambda row: row["id"] in ids


def below(id: int):
    return lambda row: row["id"] < id


def of_region(name):
    return lambda row: row["region"] == name


def listed(*ids) -> str:
    return f"id IN ({', '.join(map(str, ids))})"


def every(rows, **values):
    """A column that was added: the same value in all rows that are there."""
    return [{**row, **values} for row in rows]


def without(rows, name):
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def renamed(rows, old, new):
    return [{new if key == old else key: value for key, value in row.items()} for row in rows]


def made_rows(first: int, last: int) -> list[dict]:
    return numbered(
        first,
        last,
        u=lambda id: None if id % 6 == 0 else f"00000000-0000-0000-0000-{id:012x}",
        f=lambda id: None if id % 7 == 0 else f"0001{id:02x}",
        st=lambda id: None if id % 5 == 0 else {"a": id, "b": [None, "x"][: id % 3]},
        d=lambda id: None if id % 4 == 0 else id,
        ts=lambda id: f"20{20 + id % 3}-02-0{1 + id % 9}T00:00:00.000000Z",
        s=lambda id: None if id % 9 == 0 else f"{chr(97 + id % 3)}{id}",
    )


def events(*rows_and_operations) -> list[dict]:
    """Lists of rows and what happens to them, by turns: u or d in column _op."""
    pairs = zip(rows_and_operations[::2], rows_and_operations[1::2])
    return [{**row, "_op": operation} for rows, operation in pairs for row in rows]


def deletes_row(row: dict) -> bool:
    return row["_op"] == "d"


def raised(row: dict) -> dict:
    return {"n": None if row["n"] is None else row["n"] + 1}


def alternating(rounds: int) -> list:
    """Both engines take turns: deletes, updates, appends; files of the one get deletion vectors of the other."""
    steps = []
    for i in range(rounds):
        a, b, c = i, 119 - i, 200 + i
        steps += [
            lambda: [delete(f"id = {a}", among(a)), spark_delete(f"id = {b}", among(b))],
            lambda: [
                update(["v = v || '!'"], listed(59, 61, c - 1), among(59, 61, c - 1), lambda row: {"v": row["v"] + "!"}),
                spark_update(["n = n + 1"], listed(59, 61, c - 1), among(59, 61, c - 1), raised),
            ],
            lambda: [append(plain(c, c + 2)), spark_append(plain(c + 500, c + 502))],
        ][i % 3]()
    return steps


def take_back(first_row_id: int):
    """Removes the vector of the data file whose first row has this id, and writes no other."""

    def act(helper, table) -> None:
        tasks = table.newScan().planFiles().iterator()
        while tasks.hasNext():
            task = tasks.next()
            if task.file().firstRowId() == first_row_id:
                helper.rowDelta(table, [], [], [], [task.deletes()[0]], None)
                return

    return act


HISTORIES = [
    History(
        "each_further_delete_of_a_file_replaces_its_vector",
        [
            create(PLAIN),
            append(plain(0, 100)),
            delete("id < 3", below(3)),
            delete("id = 99", among(99)),
            spark_delete("id = 50", among(50)),
            delete("id = 51", among(51)),
            delete("id >= 97 OR v = 'v10'", lambda row: row["id"] >= 97 or row["v"] == "v10"),
        ],
    ),
    History(
        "writers_in_turns_lose_nothing",
        [create(PLAIN), append(plain(0, 60)), spark_append(plain(60, 120)), *alternating(50)],
        every_snapshot=12,
    ),
    History(
        "one_commit_may_write_vectors_of_many_files",
        [
            create(PLAIN),
            *[append(plain(k * 10, k * 10 + 10)) for k in range(4)],
            *[spark_append(plain(k * 10, k * 10 + 10)) for k in range(4, 6)],
            delete("n = 2 OR n = 24 OR id IN (25, 31, 32, 33, 47, 58)", lambda row: row["n"] in (2, 24) or row["id"] in (25, 31, 32, 33, 47, 58)),  # fmt: skip
            delete(listed(2, 34, 59), among(2, 34, 59)),
            spark_delete(listed(3, 13, 48), among(3, 13, 48)),
            update(["v = 'new'"], "n > 50", lambda row: (row["n"] or 0) > 50, lambda row: {"v": "new"}),
        ],
    ),
    History(
        "many_vectors_share_a_file_of_their_commit",
        [
            create("id BIGINT, v STRING"),
            *[append(numbered(k * 1500, k * 1500 + 1500, v=lambda id: f"v{id % 10}")) for k in range(4)],
            # Vectors of a kilobyte beside small ones.
            delete("v IN ('v3', 'v5', 'v6') AND id < 3000 OR id >= 3000 AND id < 3400", lambda row: row["v"] in ("v3", "v5", "v6") and row["id"] < 3000 or 3000 <= row["id"] < 3400),
            delete("v IN ('v4', 'v7', 'v9') AND id < 1500 OR id >= 2999 AND id < 3500 OR id = 1501", lambda row: row["v"] in ("v4", "v7", "v9") and row["id"] < 1500 or 2999 <= row["id"] < 3500 or row["id"] == 1501),
        ],
        every_snapshot=3,
    ),  # fmt: skip
    History(
        "an_updated_row_may_be_deleted_and_appended_again",
        [
            create(PLAIN),
            append(plain(0, 20)),
            update(["v = 'u'", "n = id"], "id < 6", below(6), lambda row: {"v": "u", "n": row["id"]}),
            delete("v = 'u' AND id <> 2", lambda row: row["v"] == "u" and row["id"] != 2),
            append(plain(0, 2)),
            update(["v = NULL"], listed(0, 2, 9), among(0, 2, 9), lambda row: {"v": None}),
            spark_update(["v = 'w'"], listed(0, 2, 10), among(0, 2, 10), lambda row: {"v": "w"}),
        ],
    ),
    History(
        "rows_are_changed_by_their_keys",
        [
            create(REGIONAL, "region"),
            append(regional(0, 30)),
            spark_append(regional(30, 60)),
            # Replaced in place, moved to another partition, new, deleted, deleted but not there; the last row of a key counts.
            upsert(
                [
                    *[{**row, "s": "early", "_op": "d"} for row in regional(1, 3)],
                    *[{**row, "s": "replaced", "_op": "u"} for row in regional(0, 4) + regional(29, 32)],
                    *[{**row, "region": "moved", "_op": "u"} for row in regional(5, 8) + regional(44, 45)],
                    *[{**row, "_op": "u"} for row in regional(60, 63)],
                    *[{**row, "_op": "d"} for row in regional(10, 12) + regional(50, 51) + regional(70, 71)],
                ],
                ["id"],
                "_op = 'd'",
                lambda row: row["_op"] == "d",
            ),
            delete_keys([{"id": 0, "region": region(0)}, {"id": 22, "region": None}, {"id": 1, "region": None}, {"id": 5, "region": "moved"}], ["id", "region"]),  # fmt: skip
            spark(
                "MERGE INTO {t} t USING (SELECT id FROM range(2, 70, 9)) u ON t.id = u.id WHEN MATCHED AND t.id < 30 THEN DELETE WHEN MATCHED THEN UPDATE SET s = 'merged' WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)",
                lambda rows: [{**row, "s": "merged"} if row["id"] in range(2, 70, 9) else row for row in rows if row["id"] not in range(2, 30, 9)] + [{"id": id, "region": None, "ts": None, "s": None} for id in (11, 65)],
            ),
            merge(
                [{**row, "s": "m"} for row in regional(2, 5) + regional(54, 57) + regional(64, 67)],
                ["id"],
                ["--matched-delete", "source.id < 4", "--matched-update", "s = source.s || s", "--matched-update-when", "region = 'us'", "--not-matched-insert", "source.id != 66"],
                lambda row, source: None if row["id"] < 4 else {**row, "s": row["s"] and "m" + row["s"]} if row["region"] == "us" else row,
                lambda source: None if source["id"] == 66 else source,
            ),
            spark_update(["s = 'last'"], listed(3, 4, 55, 64), among(3, 4, 55, 64), lambda row: {"s": "last"}),
            upsert([{**row, "s": "again"} for row in regional(55, 66)], ["id"]),
        ],
    ),  # fmt: skip
    History(
        "a_file_without_rows_is_dropped_with_its_vector",
        [
            create(PLAIN),
            append(plain(0, 10)),
            append(plain(10, 20)),
            spark_append(plain(20, 30)),
            delete(listed(3, 12, 25), among(3, 12, 25)),
            delete("id >= 10 AND id < 20", lambda row: 10 <= row["id"] < 20),
            spark_delete("id < 8", below(8)),
            delete("id <= 9", below(10)),
            delete("TRUE", lambda row: True),
            append(plain(30, 33)),
        ],
    ),
    History(
        "a_table_that_was_made_here_is_anyones",
        [
            made("id long NOT NULL, u uuid, f fixed[3], st struct<a int, b list<string>>, d int DEFAULT 5, ts timestamptz, s string", "bucket(2, id), year(ts), truncate(1, s), void(d)", "id", write__target_file_size_bytes="100000"),
            append(made_rows(0, 20)),
            spark_append(made_rows(20, 30)),
            append(without(made_rows(30, 33), "d"), as_stored=every(made_rows(30, 33), d=5)),
            delete("u = '00000000-0000-0000-0000-000000000003' OR f = X'000104'", lambda row: row["id"] in (3, 4)),
            upsert([{**row, "d": 6, "s": "z"} for row in made_rows(31, 35)], ["id"]),
            spark_delete(listed(5, 21), among(5, 21)),
            spark("ALTER TABLE {t} ADD PARTITION FIELD days(ts);\nALTER TABLE {t} DROP COLUMN st", lambda rows: without(rows, "st")),
            append(without(made_rows(40, 45), "st")),
            update(["d = d * 2"], "id < 12", below(12), lambda row: {"d": row["d"] and row["d"] * 2}),
        ],
    ),  # fmt: skip
    History(
        "a_table_that_was_made_in_an_sqlite_catalog_is_shared",
        [
            made("id long NOT NULL, v string, n int", "n", "id", catalog="shared"),
            append(plain(0, 20)),
            spark_append(plain(20, 30)),
            delete(listed(1, 21), among(1, 21)),
            spark_update(["v = 's'"], listed(2, 22), among(2, 22), lambda row: {"v": "s"}),
            upsert([{"id": id, "v": "k", "n": 1} for id in (2, 3, 100)], ["id"]),
        ],
    ),
    History(
        "partitions_by_identity_hold_nulls",
        [
            create(REGIONAL, "region"),
            append(regional(0, 40)),
            spark_append(regional(40, 60)),
            delete("region IS NULL AND id < 30", lambda row: row["region"] is None and row["id"] < 30),
            delete("region = 'eu' AND id < 50", lambda row: row["region"] == "eu" and row["id"] < 50),
            update(["region = 'new'"], listed(1, 2, 33, 44), among(1, 2, 33, 44), lambda row: {"region": "new"}),
            delete("region = 'us'", of_region("us")),
            spark_delete("id = 55", among(55)),
        ],
    ),
    History(
        "partitions_by_every_transform",
        [
            create(REGIONAL, "bucket(3, id), days(ts), truncate(2, s)"),
            append(regional(0, 40)),
            spark_append(regional(40, 60)),
            delete("ts < '2024-01-01T00:00:00Z' AND id > 8", lambda row: row["ts"] < "2024" and row["id"] > 8),
            spark_delete("id = 7", among(7)),
            update(["s = 'zz' || s"], "id < 20", below(20), lambda row: {"s": row["s"] and "zz" + row["s"]}),
        ],
    ),
    History(
        "partitions_by_hour_month_and_year",
        [
            create(REGIONAL, "hours(ts)"),
            append(regional(0, 20)),
            delete(listed(3, 4), among(3, 4)),
            spark("ALTER TABLE {t} REPLACE PARTITION FIELD ts_hour WITH months(ts)"),
            append(regional(20, 40)),
            delete(listed(5, 25), among(5, 25)),
            spark("ALTER TABLE {t} REPLACE PARTITION FIELD ts_month WITH years(ts)"),
            append(regional(40, 60)),
            spark_delete(listed(6, 26, 46), among(6, 26, 46)),
            update(["region = 'x'"], listed(7, 27, 47), among(7, 27, 47), lambda row: {"region": "x"}),
        ],
    ),
    History(
        "deletes_carry_the_spec_of_their_data_file",
        [
            create(REGIONAL),
            append(regional(0, 20)),
            spark("ALTER TABLE {t} ADD PARTITION FIELD region"),
            append(regional(20, 40)),
            delete(listed(1, 2, 21, 22), among(1, 2, 21, 22)),
            spark("ALTER TABLE {t} ADD PARTITION FIELD bucket(2, id)"),
            spark_append(regional(40, 60)),
            spark("ALTER TABLE {t} DROP PARTITION FIELD region"),
            append(regional(60, 80)),
            delete("id IN (3, 23, 43, 63) OR region IS NULL", lambda row: row["id"] in (3, 23, 43, 63) or row["region"] is None),
            update(["s = region"], listed(4, 24, 44, 64), among(4, 24, 44, 64), lambda row: {"s": row["region"]}),
            spark_delete(listed(5, 25, 46, 67), among(5, 25, 46, 67)),
        ],
    ),
    History(
        "an_upgraded_table_keeps_its_position_deletes",
        [
            create(REGIONAL, "region", version=2),
            spark_append(regional(0, 40)),
            append(regional(40, 60)),
            spark_delete(listed(1, 2, 3, 41, 42), among(1, 2, 3, 41, 42)),
            upgrade(),
            delete(listed(4, 5), among(4, 5)),
            append(regional(60, 70)),
            delete(listed(6, 43, 61), among(6, 43, 61)),
            spark_delete(listed(7, 44, 62), among(7, 44, 62)),
            update(["s = 'u'"], listed(8, 45, 63), among(8, 45, 63), lambda row: {"s": "u"}),
        ],
    ),
    History(
        "position_deletes_of_a_partition_stay_until_all_files_have_vectors",
        [
            create(PLAIN, version=2, write__delete__granularity="partition"),
            spark_append(plain(0, 20)),
            spark_append(plain(20, 40)),
            spark_append(plain(40, 60)),
            spark_delete(listed(1, 21, 41), among(1, 21, 41)),
            spark_upgrade(),
            delete(listed(2, 22), among(2, 22)),
            delete("id = 42", among(42)),
            spark_delete(listed(3, 23, 43), among(3, 23, 43)),
        ],
    ),
    History(
        "version_1_is_upgraded",
        [
            create(PLAIN, "n", version=1, write__delete__mode="copy-on-write"),
            spark_append(plain(0, 20)),
            spark_delete("id = 1", among(1)),
            spark("ALTER TABLE {t} DROP PARTITION FIELD n"),
            spark_append(plain(20, 40)),
            upgrade(),
            delete(listed(2, 22, 32), among(2, 22, 32)),
            append(plain(40, 45)),
            update(["v = 'u'"], listed(3, 23, 33, 43), among(3, 23, 33, 43), lambda row: {"v": "u"}),
        ],
    ),
    History(
        "nested_columns_keep_their_values",
        [
            create("id BIGINT, st STRUCT<a: INT, b: STRUCT<c: STRING>>, li ARRAY<STRUCT<e: INT>>, m MAP<STRING, ARRAY<INT>>"),
            append(
                numbered(
                    0,
                    30,
                    st=lambda id: None if id % 5 == 0 else {"a": id % 3, "b": None if id % 4 == 0 else {"c": f"c{id}"}},
                    li=lambda id: None if id % 6 == 0 else [{"e": id}, None, {"e": None}][: id % 4],
                    m=lambda id: None if id % 7 == 0 else [["a", [id, None]], ["b", None], ["c", []]][: id % 4],
                )
            ),
            delete("st.a = 1", lambda row: row["st"] is not None and row["st"]["a"] == 1),
            delete("st.b.c = 'c17' OR st IS NULL AND id > 20", lambda row: row["id"] == 17 or row["st"] is None and row["id"] > 20),
            spark_update(["st.a = 77"], "id IN (2, 3)", among(2, 3), lambda row: {"st": {**row["st"], "a": 77}}),
            spark("ALTER TABLE {t} ADD COLUMN st.d BIGINT", lambda rows: [{**r, "st": r["st"] and {**r["st"], "d": None}} for r in rows]),
            spark("ALTER TABLE {t} RENAME COLUMN li.element.e TO f", lambda rows: [{**r, "li": r["li"] and [x and {"f": x["e"]} for x in r["li"]]} for r in rows]),
            append([{"id": 100, "st": {"a": 1, "b": {"c": ""}, "d": 5}, "li": [{"f": 1}], "m": []}]),
            update(["m = NULL"], listed(3, 100), among(3, 100), lambda row: {"m": None}),
        ],
        # A NULL list of structs becomes an empty one once a field of the structs was renamed.
        faults={"PyIceberg": "21 rows instead of 21"},
    ),  # fmt: skip
    History(
        "values_of_every_type_come_back",
        [
            create(TYPES),
            append([typed(id) for id in range(60)]),
            append([typed(id) for id in range(60, 90)]),
            delete("d IS NAN AND id < 30", lambda row: row["d"] == "NaN" and row["id"] < 30),
            delete("bin = X'000b' OR dec9 = 5.08 OR dt = DATE '1970-02-19'", lambda row: row["bin"] == "000b" or row["dec9"] == "5.08" or row["dt"] == "1970-02-19"),  # fmt: skip
            delete("ts >= TIMESTAMP '1971-12-31 23:59:59.000050'", lambda row: (row["ts"] or "") >= "1971-12-31T23:59:59.000050"),
            update(["f = f * 2", "dec9 = dec9 + 1.5", "s = s || '!'", "i = NULL"], "id = 1 OR id = 13", among(1, 13), lambda row: {"f": {1: "NaN", 13: 0.0}[row["id"]], "dec9": {1: "-0.51", 13: "11.63"}[row["id"]], "s": row["s"] + "!", "i": None}),  # fmt: skip
            spark_delete("id = 77", among(77)),
        ],
    ),
    History(
        "partitions_by_boolean_decimal_date_and_binary",
        [
            create("id BIGINT, b BOOLEAN, dec DECIMAL(9,2), dt DATE, ts TIMESTAMP_NTZ, bin BINARY", "b, dec, dt, bin"),
            append(
                numbered(
                    0,
                    12,
                    b=lambda id: None if id % 3 == 0 else id % 2 == 0,
                    dec=lambda id: None if id == 4 else f"{id - 5}.50",
                    dt=lambda id: None if id == 5 else f"19{69 + id % 2}-12-31",
                    ts=lambda id: None,
                    bin=lambda id: ("00ff", "", None)[id % 3],
                )
            ),
            delete(listed(1, 4), among(1, 4)),
            spark_delete(listed(5, 6), among(5, 6)),
            update(["dec = 0.01"], listed(7, 8), among(7, 8), lambda row: {"dec": "0.01"}),
        ],
    ),
    History(
        "names_and_values_of_any_characters_are_kept",
        [
            create("id BIGINT, `a.b/c=d %20 ü` STRING, `sp ace` STRING, `qu\"o``te's` INT, st STRUCT<`in ner.%`: INT>", "`a.b/c=d %20 ü`, truncate(2, `sp ace`)"),  # fmt: skip
            append(odd(0, 30)),
            spark_append(odd(30, 60)),
            delete("`a.b/c=d %20 ü` = '100%' AND id < 40", lambda row: row["a.b/c=d %20 ü"] == "100%" and row["id"] < 40),
            delete("\"sp ace\" = 's 1%' AND `qu\"o``te's` < 30", lambda row: row["sp ace"] == "s 1%" and row['qu"o`te\'s'] < 30),
            update(["`a.b/c=d %20 ü` = 'it''s \"x\"\\'"], listed(12, 13, 40), among(12, 13, 40), lambda row: {"a.b/c=d %20 ü": "it's \"x\"\\"}),  # fmt: skip
            spark_delete("`a.b/c=d %20 ü` = 'd\"q'", lambda row: row["a.b/c=d %20 ü"] == 'd"q'),
        ],
        faults={"DuckDB": "Invalid Avro identifier"},
    ),
    History(
        "columns_are_found_by_id_after_the_schema_changed",
        [
            create("id BIGINT, a INT, f FLOAT, gone STRING, v STRING"),
            append(numbered(0, 20, a=lambda id: id, f=lambda id: id / 2, gone=str, v=lambda id: f"v{id}")),
            delete("a = 3", among(3)),
            spark("ALTER TABLE {t} DROP COLUMN gone", lambda rows: without(rows, "gone")),
            spark("ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT;\nALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE"),
            spark("ALTER TABLE {t} RENAME COLUMN v TO w;\nALTER TABLE {t} ADD COLUMN v INT", lambda rows: every(renamed(rows, "v", "w"), v=None)),
            append(numbered(20, 30, a=lambda id: id + 2**40, f=lambda id: id / 10, w=lambda id: f"w{id}", v=lambda id: id)),
            update(["v = a"], "id < 10", below(10), lambda row: {"v": row["a"]}),
            java("a column with a default", lambda helper, t: helper.addColumnDefault(t, None, "d", "int", 42), lambda rows: every(rows, d=42)),
            delete("d = 42 AND w = 'v12' OR v = 25", lambda row: row["w"] == "v12" or row["v"] == 25),
            update(["d = d + 1"], listed(14, 24), among(14, 24), lambda row: {"d": 43}),
            append([{"id": 31, "a": None, "f": None, "w": None, "v": None, "d": 7}]),
            spark_delete("d = 42 AND id = 15", among(15)),
        ],
    ),  # fmt: skip
    History(
        "branches_are_changed_apart_from_one_another",
        [
            create(PLAIN),
            append(plain(0, 20)),
            delete(listed(1, 2), among(1, 2)),
            create_branch("audit"),
            delete(listed(3, 4), among(3, 4), branch="audit"),
            delete(listed(4, 5), among(4, 5)),
            append(plain(20, 25), branch="audit"),
            spark_delete("id = 6", among(6), branch="audit"),
            update(["v = 'audited'"], listed(7, 21), among(7, 21), lambda row: {"v": "audited"}, branch="audit"),
            update(["v = 'main'"], listed(7, 8), among(7, 8), lambda row: {"v": "main"}),
            spark_append(plain(30, 33)),
        ],
    ),
    History(
        "sorted_tables_and_gzip_metadata",
        [
            create(REGIONAL, "region", more="ALTER TABLE {t} WRITE ORDERED BY s DESC NULLS LAST, id", write__metadata__compression_codec="gzip", write__metadata__previous_versions_max="3", write__metadata__delete_after_commit__enabled="true"),  # fmt: skip
            append(regional(0, 30)),
            spark_append(regional(30, 50)),
            delete(listed(1, 31), among(1, 31)),
            update(["s = 'u'"], "id < 6", below(6), lambda row: {"s": "u"}),
            spark_delete("id = 32", among(32)),
            delete("id = 33", among(33)),
        ],
    ),
    History(
        "manifests_are_merged_and_rewritten",
        [
            create(PLAIN, commit__manifest__min_count_to_merge="2"),
            *[append(plain(k * 10, k * 10 + 10)) for k in range(4)],
            delete(listed(1, 11, 21), among(1, 11, 21)),
            spark_append(plain(40, 50)),
            delete(listed(2, 41), among(2, 41)),
            spark("CALL ice.system.rewrite_manifests('db.{name}')"),
            delete(listed(3, 12, 42), among(3, 12, 42)),
            spark_delete(listed(4, 13, 43), among(4, 13, 43)),
            append(plain(50, 55)),
        ],
    ),
    History(
        "a_table_goes_on_after_compaction_rollback_and_expiry",
        [
            create(PLAIN),
            append(plain(0, 20)),
            append(plain(20, 40)),
            delete(listed(1, 21), among(1, 21)),
            spark("CALL ice.system.rewrite_data_files(table => 'db.{name}', options => map('rewrite-all', 'true'))"),
            delete(listed(2, 22), among(2, 22)),
            update(["v = 'u'"], listed(3, 23), among(3, 23), lambda row: {"v": "u"}),
            spark("CALL ice.system.rewrite_position_delete_files(table => 'db.{name}', options => map('rewrite-all', 'true'))"),
            spark("CALL ice.system.expire_snapshots(table => 'db.{name}', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 2)"),
            delete(listed(4, 24), among(4, 24)),
            append(plain(40, 45)),
        ],
    ),  # fmt: skip
    History(
        "files_with_pending_equality_deletes_get_vectors",
        [
            create(PLAIN),
            append(plain(0, 30)),
            equality_deletes(["id"], [[1], [2], [3]], among(1, 2, 3)),
            append(plain(1, 3)),
            delete(listed(1, 4), among(1, 4)),
            update(["v = 'u'"], listed(2, 5, 6), among(2, 5, 6), lambda row: {"v": "u"}),
            equality_deletes(["v"], [["u"]], lambda row: row["v"] == "u"),
            spark_delete("id = 7", among(7)),
            append(plain(30, 33)),
        ],
        faults={"PyIceberg": "does not yet support equality deletes"},
    ),
    History(
        "equality_deletes_become_vectors_that_all_engines_read",
        [
            create("id BIGINT, grp STRING, v STRING", "grp"),
            spark_append(numbered(0, 30, grp=lambda id: (None, "x", "y")[id % 3], v=lambda id: f"v{id % 9}")),
            append(numbered(30, 60, grp=lambda id: (None, "x", "y")[id % 3], v=lambda id: f"v{id % 9}")),
            delete(listed(1, 2, 31), among(1, 2, 31)),
            equality_deletes(["id"], [[1], [4], [5], [34]], among(4, 34), partition_of=[0, "x", ""]),
            equality_deletes(["v", "grp"], [["v0", None], ["v3", None], ["v1", "x"]], lambda row: row["grp"] is None and row["v"] in ("v0", "v3"), partition_of=[0, None, ""]),
            append(numbered(60, 63, grp=lambda id: "x", v=lambda id: "v0")),
            convert(),
            spark_delete(listed(7, 35), among(7, 35)),
            equality_deletes(["id"], [[7], [10], [60]], among(10, 60), partition_of=[0, "x", ""]),
            convert(),
            delete(listed(8, 61), among(8, 61)),
        ],
    ),  # fmt: skip
    History(
        "rows_of_streams_are_found_in_any_partition",
        [
            create(REGIONAL, "region"),
            append(regional(0, 30)),
            spark_append(regional(30, 60)),
            # New, replaced, moved to another partition, deleted, deleted but not there, new and deleted at once, and the reverse.
            upsert_via_equality(
                events(
                    regional(60, 70), "u",
                    [{**row, "s": "replaced"} for row in regional(0, 4) + regional(29, 33)], "u",
                    [{**row, "region": "moved"} for row in regional(5, 8) + regional(44, 46)], "u",
                    regional(10, 13) + regional(50, 53) + regional(80, 82) + regional(61, 63), "d",
                    regional(4, 5), "d",
                    [{**row, "s": "again"} for row in regional(4, 5) + regional(12, 13)], "u",
                ),
                ["id"], "_op = 'd'", deletes_row,
            ),
            spark_delete(listed(1, 45, 60), among(1, 45, 60)),
            upsert_via_equality(events([{**row, "region": None} for row in regional(4, 8)], "u", regional(44, 47) + regional(64, 66), "d", regional(1, 2), "u"), ["id"], "_op = 'd'", deletes_row),  # fmt: skip
            update(["s = 'u'"], listed(4, 29, 67), among(4, 29, 67), lambda row: {"s": "u"}),
            spark_update(["s = 's'"], listed(5, 30, 68), among(5, 30, 68), lambda row: {"s": "s"}),
            upsert_via_equality(events(regional(28, 32) + regional(66, 72), "u", [{**row, "region": "us"} for row in regional(28, 30)], "u", regional(70, 71), "d"), ["id"], "_op = 'd'", deletes_row),  # fmt: skip
        ],
    ),  # fmt: skip
    History(
        "vectors_apply_to_files_of_their_own_commit",
        [
            create(REGIONAL, "region"),
            append(regional(0, 20)),
            # The second writer deletes and replaces rows of the first, the third all rows of the second in one partition.
            commit_deltas(
                [
                    events(regional(15, 45), "u"),
                    events(regional(16, 19) + regional(30, 33) + regional(2, 4), "d", [{**row, "s": "second"} for row in regional(20, 23) + regional(45, 51)], "u"),
                    events([row for row in regional(45, 51) if row["region"] == "eu"], "d", [{**row, "s": "third", "region": "moved"} for row in regional(21, 24) + regional(30, 31)], "u"),
                ],
                ["id"],
            ),
            spark_delete(listed(5, 24, 46), among(5, 24, 46)),
            commit_deltas([events(regional(25, 27) + regional(60, 64), "u"), events(regional(61, 62) + regional(24, 26), "d")], ["id"]),
            spark_update(["s = 's'"], listed(6, 21, 63), among(6, 21, 63), lambda row: {"s": "s"}),
            delete(listed(7, 23, 60), among(7, 23, 60)),
        ],
    ),  # fmt: skip
    History(
        "equality_deletes_of_streams_become_vectors_later",
        [
            create(PLAIN, "bucket(2, id)"),
            spark_append(plain(0, 20)),
            append(plain(20, 40)),
            upsert_via_equality(events(plain(40, 45), "u", every(plain(0, 4) + plain(38, 40), v="first"), "u", plain(5, 7) + plain(30, 32) + plain(90, 92) + plain(44, 45), "d"), ["id"], "_op = 'd'", deletes_row, pending=True),  # fmt: skip
            upsert_via_equality(events(every(plain(2, 6) + plain(41, 43), v="second"), "u", plain(0, 1) + plain(40, 41), "d"), ["id"], "_op = 'd'", deletes_row, pending=True),  # fmt: skip
            upsert_via_equality(events(every(plain(4, 5) + plain(20, 22), v="third"), "u", plain(42, 43), "d"), ["id"], "_op = 'd'", deletes_row, counts_deleted="at least"),  # fmt: skip
            upsert_via_equality(events(every(plain(5, 6) + plain(45, 47), v="fourth"), "u", plain(21, 22), "d"), ["id"], "_op = 'd'", deletes_row, pending=True),  # fmt: skip
            convert(),
            spark_delete(listed(2, 23, 45), among(2, 23, 45)),
            update(["v = 'u'"], listed(3, 24, 46), among(3, 24, 46), lambda row: {"v": "u"}),
        ],
    ),  # fmt: skip
    History(
        "equality_deletes_of_streams_are_read_before_they_are_converted",
        [
            create(PLAIN),
            append(plain(0, 20)),
            upsert_via_equality(events(plain(20, 25), "u", every(plain(0, 4), v="first"), "u", plain(5, 7) + plain(90, 92) + plain(24, 25), "d"), ["id"], "_op = 'd'", deletes_row, pending=True),  # fmt: skip
            upsert_via_equality(events(every(plain(2, 6), v=None), "u", plain(0, 1) + plain(20, 21), "d"), ["id"], "_op = 'd'", deletes_row, pending=True),  # fmt: skip
            spark_append(plain(5, 6) + plain(30, 32)),
            spark_delete("id = 30", among(30)),
        ],
        key=None,  # 5 is there twice
        faults={"PyIceberg": "does not yet support equality deletes"},
    ),  # fmt: skip
    History(
        "deletes_of_every_kind_of_version_2_become_vectors",
        [
            create(PLAIN, version=2),
            spark_append(plain(0, 20)),
            spark_append(plain(20, 40)),
            spark_delete(listed(1, 21), among(1, 21)),
            equality_deletes(["n", "v"], [[4, "v2"], [None, "v7"], [44, "v0"]], among(2, 7)),
            upgrade(),
            convert("--position-deletes"),
            update(["v = 'u'"], listed(3, 23), among(3, 23), lambda row: {"v": "u"}),
            spark_delete("id = 24", among(24)),
        ],
    ),
    History(
        "null_is_equal_to_null_in_equality_deletes",
        [
            create("id BIGINT, k1 INT, k2 STRING"),
            append(numbered(0, 12, k1=lambda id: None if id % 3 == 0 else id % 3, k2=lambda id: (None, "", "a", "b")[id % 4])),
            equality_deletes(["k1", "k2"], [[1, None], [None, "a"], [2, ""]], lambda row: (row["k1"], row["k2"]) in ((1, None), (None, "a"), (2, ""))),  # fmt: skip
            delete("k2 = 'b' AND k1 IS NULL", lambda row: row["k2"] == "b" and row["k1"] is None),
        ],
        faults={"PyIceberg": "does not yet support equality deletes", "DuckDB": "5 rows instead of 8"},
    ),
    History(
        "equality_deletes_stay_within_their_partition",
        [
            create("id BIGINT, grp STRING", "grp"),
            append(numbered(0, 12, grp=lambda id: (None, "x", "y")[id % 3])),
            equality_deletes(["id"], [[1], [2], [3]], among(1), partition_of=[0, "x"]),
            equality_deletes(["id"], [[0], [1], [3], [4]], among(0, 3), partition_of=[0, None]),
            delete(listed(4, 6), among(4, 6)),
            append(numbered(12, 15, grp=lambda id: "x")),
        ],
        faults={"PyIceberg": "does not yet support equality deletes", "DuckDB": "Comparison on NULL values"},
    ),
    History(
        "an_equality_delete_outlives_its_column",
        [
            create("id BIGINT, k STRING"),
            append(numbered(0, 12, k=lambda id: f"k{id % 4}")),
            equality_deletes(["k"], [["k1"]], lambda row: row["k"] == "k1"),
            spark("ALTER TABLE {t} DROP COLUMN k", lambda rows: without(rows, "k")),
            delete("id = 2", among(2)),
            append([{"id": 20}]),
        ],
        faults={"PyIceberg": "does not yet support equality deletes", "DuckDB": "signal 11"},
    ),
    History(
        "an_equality_delete_may_have_a_nested_key",
        [
            create("id BIGINT, st STRUCT<a: INT, b: STRING>"),
            append(numbered(0, 12, st=lambda id: None if id % 5 == 0 else {"a": id % 4, "b": "x"})),
            nested_equality_deletes(["st.a"], [[[1]]], lambda row: row["st"] is not None and row["st"]["a"] == 1),
            delete("st.a = 2 AND id < 5", among(2)),
        ],
        key=None,  # asked for the id and the row id only, Spark does not apply the delete
        faults={"PyIceberg": "does not yet support equality deletes", "DuckDB": "signal 11"},
    ),
    History(
        "a_vector_that_was_taken_back_stays_so",
        [
            create(PLAIN),
            append(plain(0, 10)),
            append(plain(10, 20)),
            append(plain(20, 30)),
            # One Puffin file for all three.
            delete(listed(1, 2, 11, 12, 21), among(1, 2, 11, 12, 21)),
            java("the vector of the file with row 10 is removed", take_back(10), lambda rows: rows + plain(11, 13)),
            delete("id = 13", among(13)),
            append(plain(30, 31)),
        ],
        faults={"PyIceberg": "25 rows instead of 27"},
    ),  # fmt: skip
    History(
        "a_table_of_an_sqlite_catalog_is_shared",
        [
            sql_catalog({"id": "int64", "v": "string", "n": "int32"}, plain(0, 20)),
            append(plain(20, 30)),
            upgrade(),
            delete(listed(1, 21), among(1, 21)),
            spark_delete(listed(2, 22), among(2, 22)),
            update(["v = 'u'"], listed(3, 23), among(3, 23), lambda row: {"v": "u"}),
            spark_append(plain(30, 35)),
            delete(listed(4, 24, 31), among(4, 24, 31)),
        ],
    ),
]
