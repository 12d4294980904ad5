"""The list of models and curves outside of the tree; packing and fetching."""

import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import archive  # noqa: E402
from tables import read  # noqa: E402


class Archive(unittest.TestCase):
    def test_every_run_is_listed_with_its_checksum(self):
        listed = {(entry["run"], entry["kind"]): entry for entry in archive.listed()}
        for run in read("runs"):
            model = listed[run["run"], "model"]
            self.assertRegex(model["sha256"], "^[0-9a-f]{64}$")
            self.assertEqual(model["sha256"], run.get("model_sha256", model["sha256"]))
            self.assertIn(
                f"train.py {run['problem']} --setting {run['setting']} --seed {run['seed']}", model["command"]
            )
        self.assertEqual(len({entry["path"] for entry in archive.listed()}), len(archive.listed()))

    def test_what_is_packed_can_be_fetched_and_a_changed_file_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "results").mkdir()
            data = b"a model"
            entry = {
                "path": "runs/a-tuned-0/model.safetensors",
                "run": "a/tuned-0",
                "kind": "model",
                "seed": 0,
                "bytes": len(data),
                "sha256": archive.digest(data),
                "command": "python3 experiments/train.py a",
                "history": None,
            }
            with mock.patch.multiple(archive, ROOT=root, LIST=root / "results/archive.json"):
                archive.save({"files": [entry]})
                archive.place(entry, data)
                given = types.SimpleNamespace(runs=[], file=str(root / "all.tar.gz"), source=str(root / "all.tar.gz"))
                archive.pack(given)
                path = root / entry["path"]
                path.write_bytes(b"damaged")
                with self.assertRaisesRegex(SystemExit, "different"):
                    archive.verify(types.SimpleNamespace(runs=[], source=None))
                archive.fetch(given)
                self.assertEqual(path.read_bytes(), data)
                archive.verify(given)
                # An archive with other bytes under a listed name.
                archive.save({"files": [entry | {"sha256": archive.digest(b"b")}]})
                path.unlink()
                with self.assertRaisesRegex(SystemExit, "another SHA-256"):
                    archive.fetch(given)
                self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main()
