"""Plans and what inspect shows: which deletes belong to which file."""

import json
import unittest

from program import ICEBERG, MAP, expected, read_lines, readable_tables, run


def document(*arguments) -> dict:
    done = run(*arguments, *MAP, "--json")
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


class Plan(unittest.TestCase):
    def test_a_plan_has_all_the_deletes_that_the_peer_assigns(self):
        files = assigned = 0
        for table in readable_tables():
            path = expected(table) / "plan.jsonl"
            if not path.exists():
                continue
            with self.subTest(table.name):
                plan = document("plan", table)
                deletes = plan["deleteFiles"]
                found = {}
                for file in plan["dataFiles"]:
                    indexes = [*file["positionDeletes"], *file["equalityDeletes"]]
                    if file["deletionVector"] is not None:
                        indexes.append(file["deletionVector"])
                    found[file["path"]] = {(deletes[i]["path"], deletes[i].get("contentOffset")) for i in indexes}
                wanted = {}
                for task in read_lines(path):
                    ours = wanted.setdefault(task["data_file"]["path"], set())
                    ours.update((d["path"], d.get("content_offset")) for d in task["deletes"])
                self.assertEqual(set(wanted), set(found), "data files")
                for data_file, peers in wanted.items():
                    self.assertLessEqual(peers, found[data_file], data_file)
                    files += 1
                    assigned += len(peers)
        self.assertGreater(files, 150)
        self.assertGreater(assigned, 50)

    def test_a_delete_stands_in_the_plan_once(self):
        plan = document("plan", ICEBERG / "mor_dv_partitioned")
        keys = [(d["path"], d.get("contentOffset")) for d in plan["deleteFiles"]]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual({"deletionVector"}, {d["content"] for d in plan["deleteFiles"]})

    def test_a_filter_prunes_files_and_leaves_a_residual(self):
        table = ICEBERG / "mor_dv_partitioned"
        everything = document("plan", table)
        some = document("plan", table, "--where", "region = 'us' AND v > 3")
        self.assertLess(len(some["dataFiles"]), len(everything["dataFiles"]))
        self.assertEqual({"v > 3"}, {file["residual"] for file in some["dataFiles"]})
        self.assertGreater(some["metrics"]["dataFilesPruned"], 0)


class Inspect(unittest.TestCase):
    def test_snapshots_are_those_of_the_peer(self):
        for table in readable_tables():
            path = expected(table) / "snapshots.jsonl"
            if not path.exists():
                continue
            with self.subTest(table.name):
                keys = ("snapshot-id", "parent-snapshot-id", "operation")
                found = [tuple(s[key] for key in keys) for s in document("inspect", table)["snapshots"]]
                wanted = [(s["snapshot_id"], s.get("parent_id"), s["operation"]) for s in read_lines(path)]
                self.assertEqual(sorted(wanted, key=str), sorted(found, key=str))

    def test_refs_name_branches_and_tags(self):
        refs = {r["name"]: r["type"] for r in document("inspect", ICEBERG / "branches_tags", "refs")["refs"]}
        self.assertEqual({"audit": "branch", "main": "branch", "v1": "tag"}, refs)

    def test_history_tells_rollbacks(self):
        history = document("inspect", ICEBERG / "cl_rollback_expired", "history")["history"]
        self.assertTrue(any(not entry["is-current-ancestor"] for entry in history))
        self.assertTrue(history[-1]["is-current-ancestor"])

    def test_files_and_vectors_add_up_to_the_deleted_positions(self):
        table = ICEBERG / "mor_dv"
        wanted = {d["path"]: d["deleted"] for d in read_lines(expected(table) / "deleted-positions.jsonl")}
        listing = document("inspect", table, "files")
        self.assertEqual({path: len(deleted) for path, deleted in wanted.items()},
                         {file["path"]: file["deleted-rows"] for file in listing["files"]})  # fmt: skip
        self.assertEqual(sum(map(len, wanted.values())), listing["deleted-rows"])
        for path, deleted in wanted.items():
            if not deleted:
                continue
            # By its whole path, and by the end of it.
            for name in (path, path.rsplit("/", 1)[1]):
                vectors = document("inspect", table, "dv", name)["deletion-vectors"]
                self.assertEqual([deleted], [v["positions"] for v in vectors])
                self.assertEqual([len(deleted)], [v["cardinality"] for v in vectors])

    def test_a_puffin_file_shows_all_its_vectors(self):
        table = ICEBERG / "mor_dv_partitioned"
        deletes = document("inspect", table, "deletes")["deletes"]
        paths = [d["path"] for d in deletes]
        shared = max(set(paths), key=paths.count)
        self.assertGreater(paths.count(shared), 1)
        vectors = document("inspect", table, "dv", shared)["deletion-vectors"]
        self.assertEqual({d["referenced-data-file"] for d in deletes if d["path"] == shared},
                         {v["data-file"] for v in vectors})  # fmt: skip

    def test_deletes_of_refused_tables_can_be_looked_at(self):
        for name, count in (("invalid_two_dvs", "deletion-vectors"), ("eq_v3", "equality-delete-files"),
                            ("unsupported_orc_deletes", "position-delete-files")):  # fmt: skip
            self.assertGreater(document("inspect", ICEBERG / name, "deletes")[count], 0, name)
        files = document("inspect", ICEBERG / "unsupported_orc_data", "files")["files"]
        self.assertEqual({"orc"}, {file["format"] for file in files})

    def test_files_without_vectors_and_ambiguous_names_are_refused(self):
        table = ICEBERG / "mor_dv"
        without = next(f["path"] for f in document("inspect", table, "files")["files"] if f["deleted-rows"] == 0)
        for file, message in ((without, "no deletion vector"), ("nothing.parquet", "no data file")):
            done = run("inspect", table, "dv", file, *MAP)
            self.assertEqual(2, done.returncode)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
