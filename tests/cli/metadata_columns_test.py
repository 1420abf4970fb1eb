"""The columns that are made and not stored: row lineage as Spark reads it, deleted rows, partitions."""

import unittest

from program import ICEBERG, bag, expected, read_lines, readable_tables, scan, select


class MetadataColumns(unittest.TestCase):
    def test_row_lineage_equals_the_peers_at_every_snapshot(self):
        table = ICEBERG / "row_lineage"
        files = sorted(expected(table).glob("lineage-*.jsonl"))
        self.assertGreaterEqual(len(files), 9)
        for file in files:
            with self.subTest(file.name):
                wanted = read_lines(file)
                found = scan(table, "--snapshot", file.stem.removeprefix("lineage-"), *select(wanted[0]))
                self.assertEqual(bag(wanted), bag(found))

    def test_files_without_first_row_id_have_no_row_ids_but_their_sequence_number(self):
        # The specification's reading; the reference implementation gives NULL for both.
        rows = scan(ICEBERG / "mor_pos_v2_file", *select(["_row_id", "_last_updated_sequence_number", "_file"]))
        plan = read_lines(expected(ICEBERG / "mor_pos_v2_file") / "plan.jsonl")
        sequence = {line["data_file"]["path"]: line["data_file"]["data_seq"] for line in plan}
        self.assertTrue(rows)
        for row in rows:
            self.assertIsNone(row["_row_id"])
            self.assertEqual(sequence[row["_file"]], row["_last_updated_sequence_number"])

    def test_deleted_marks_exactly_the_rows_that_the_peers_do_not_return(self):
        for table in readable_tables():
            if not (expected(table) / "deleted-positions.jsonl").exists():
                continue
            with self.subTest(table.name):
                wanted = set()
                records = 0
                for line in read_lines(expected(table) / "deleted-positions.jsonl"):
                    wanted |= {(line["path"], position) for position in line["deleted"]}
                    records += line["records"]
                rows = scan(table, *select(["_file", "_pos", "_deleted"]))
                self.assertEqual(records, len(rows))
                self.assertEqual(wanted, {(row["_file"], row["_pos"]) for row in rows if row["_deleted"]})

    def test_a_filter_holds_for_deleted_rows_too(self):
        table = ICEBERG / "mor_dv"
        rows = scan(table, *select(["id", "_deleted"]), "--where", "id >= 240 and id < 290")
        self.assertEqual(list(range(240, 290)), sorted(row["id"] for row in rows))
        # DELETE WHERE id % 10 = 3 AND id < 600; DELETE WHERE id BETWEEN 240 AND 279
        wanted = {i for i in range(240, 290) if i <= 279 or i % 10 == 3}
        self.assertEqual(wanted, {row["id"] for row in rows if row["_deleted"]})

    def test_partition_and_spec_are_those_of_the_file(self):
        table = ICEBERG / "mor_dv_partitioned"
        specs = {}
        for line in read_lines(expected(table) / "plan.jsonl"):
            file = line["data_file"]
            specs[file["path"]] = (file["spec_id"], dict(part.split("=") for part in file["partition"].split("/")))
        rows = scan(table, *select(["_file", "_spec_id", "_partition"]))
        self.assertTrue(rows)
        for row in rows:
            spec, partition = specs[row["_file"]]
            self.assertEqual(spec, row["_spec_id"])
            for name, value in row["_partition"].items():
                self.assertEqual(partition.get(name, "null"), "null" if value is None else str(value))


if __name__ == "__main__":
    unittest.main()
