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


class Changes(unittest.TestCase):
    TABLE = ICEBERG / "cl_basic"
    SNAPSHOTS = [s["snapshot_id"] for s in read_lines(expected(TABLE) / "snapshots.jsonl")]

    def test_a_plan_of_changes_has_tasks_with_states_before_and_after(self):
        plan = document("plan", self.TABLE, "--changes", "--from", self.SNAPSHOTS[0], "--to", self.SNAPSHOTS[2])
        self.assertEqual(("changes", *self.SNAPSHOTS[0:3:2]), (plan["kind"], plan["fromSnapshotId"], plan["toSnapshotId"]))
        deletes = [d["cardinality"] for d in plan["deleteFiles"]]
        cardinality = lambda state: None if state["deletionVector"] is None else deletes[state["deletionVector"]]
        self.assertEqual(
            [("deletedRows", 0, None, 10), ("deletedRows", 1, 10, 21), ("restoredRows", 1, 10, 21)],
            [(t["kind"], t["ordinal"], cardinality(t["before"]), cardinality(t["after"])) for t in plan["tasks"]],
        )

    def test_ends_are_ids_branches_tags_and_times(self):
        ids = lambda *arguments: [t["snapshotId"] for t in document("plan", self.TABLE, "--changes", *arguments)["tasks"]]
        self.assertEqual(ids(), ids("--to", "main"))
        self.assertEqual(ids(), ids("--branch", "main"))
        self.assertEqual(ids("--from", self.SNAPSHOTS[2]), ids("--from", self.SNAPSHOTS[3], "--from-inclusive"))
        self.assertEqual([], ids("--from", "main"))
        self.assertEqual([], ids("--from", "@2100-01-01"))
        table = ICEBERG / "branches_tags"
        on_branch = document("plan", table, "--changes", "--from", "v1", "--branch", "audit")
        self.assertTrue(on_branch["tasks"])

    def test_ranges_with_other_deletes_are_refused_unless_they_are_resolved(self):
        refused = json.loads((ICEBERG / "changes-refused.json").read_text())
        for name, ranges in refused.items():
            for start, end in ranges:
                arguments = ["plan", ICEBERG / name, *MAP, "--changes", "--to", end]
                arguments += [] if start == "start" else ["--from", start]
                done = run(*arguments)
                self.assertEqual((5, ""), (done.returncode, done.stdout), done.stderr)
                text = "only supported in changelog scans of format version 3" if name == "cl_v2_range" else "into deletion vectors"
                self.assertIn(text, done.stderr)
                self.assertEqual(0, run(*arguments, "--resolve-deletes").returncode)

    def test_ends_that_do_not_lie_on_one_line_are_a_usage_error_that_names_both(self):
        done = run("plan", self.TABLE, *MAP, "--changes", "--from", self.SNAPSHOTS[3], "--to", self.SNAPSHOTS[1])
        self.assertEqual(2, done.returncode, done.stderr)
        for snapshot in (self.SNAPSHOTS[3], self.SNAPSHOTS[1]):
            self.assertIn(str(snapshot), done.stderr)

    def test_shards_have_the_tasks_of_the_plan_and_are_no_shards_of_a_scan(self):
        key = lambda task: (task["ordinal"], task["kind"], task["path"])
        plan = document("plan", self.TABLE, "--changes")
        done = run("plan", self.TABLE, *MAP, "--changes", "--shards", 3)
        shards = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(3, len(shards))
        self.assertEqual(sorted(map(key, plan["tasks"])), sorted(key(task) for shard in shards for task in shard["tasks"]))
        refused = run("scan", "--shard", "-", *MAP, input=done.stdout.splitlines()[0])
        self.assertEqual((5, ""), (refused.returncode, refused.stdout), refused.stderr)

    def test_options_of_scans_and_of_changes_are_not_mixed(self):
        for arguments in (("--changes", "--snapshot", "1"), ("--changes", "--split-size", "1MB"), ("--from", "1"), ("--resolve-deletes",),
                          ("--changes", "--from-inclusive"), ("--changes", "--from", "@yesterday"),
                          ("--changes", "--to", "99999999999999999999")):  # fmt: skip
            done = run("plan", self.TABLE, *MAP, *arguments)
            self.assertEqual((2, ""), (done.returncode, done.stdout), arguments)


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
