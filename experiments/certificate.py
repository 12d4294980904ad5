"""The table of docs/certificate.md from results/certificate/pairs.jsonl."""
import json
import pathlib

top = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- pairs: written by experiments/certificate.py -->\n", "<!-- end of pairs -->"


def same_sign(r):
    """Both stable or both not."""
    return (r["predicted_all"] < 0) == (r["simulated_all"] < 0)


def verdict(r):
    """Whether prediction and run agree."""
    if not r["still"]:
        return "not certified"
    return "yes" if r["agree"] else "sign only" if same_sign(r) else "no"


def table(pairs):
    """A line per pair. Of agents that do not come to rest nothing is predicted."""
    lines = ["| problem | agents | spacing | uncontrolled | predicted | seen in a run | predicted on the infinite lattice | stable | agree |", "|---" * 9 + "|"]
    for r in sorted(pairs, key=lambda r: (r["problem"], r["settings"], r["spacing"])):
        changed = f" ({', '.join(r['settings'])})" if r["settings"] else ""
        endless = f"{r['growth_slow']:+.4f}" if r["phase"] else ""
        predicted, stable = (f"{r['predicted']:+.4f}", "no" if r["predicted_all"] >= 0 else "yes") if r["still"] else ("", "")
        lines.append(f"| `{r['problem']}`{changed} | {r['agents']} | {r['spacing']:.3f} | {r['uncontrolled']:+.3f} | {predicted} | {r['simulated']:+.4f} | {endless} "
                     f"| {stable} | {verdict(r)} |")
    judged = [r for r in pairs if r["still"]]
    counts = (f"{len(pairs)} swarms, {len(judged)} of them certified: {sum(r['predicted_all'] < 0 for r in judged)} stable, {sum(r['predicted_all'] >= 0 for r in judged)} unstable. "
              f"Stable or not agrees with runs on {sum(map(same_sign, judged))}, the rate too (to a twentieth, or 0.01 per unit of time) on {sum(r['agree'] for r in judged)}.")
    return [counts, "", *lines, ""]


def main():
    """Writes the page."""
    pairs = [json.loads(line) for line in (top / "results/certificate/pairs.jsonl").read_text().splitlines()]
    page = top / "docs/certificate.md"
    text = page.read_text()
    page.write_text(text[: text.index(BEGIN) + len(BEGIN)] + "\n".join(table(pairs)) + text[text.index(END):])


if __name__ == "__main__":
    main()
