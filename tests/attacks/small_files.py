"""The files of small_attack.py: for each kind of file, ideas against its reader by name."""

import gzip
import itertools
import json
import struct

MODEL = {"format": "oas-model/1", "timing": "after", "states": ["up", "down"],
         "actions": ["run", "fix"], "observations": ["low", "high"], "start": [0.5, 0.5],
         "transition": [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]],
         "observation": [[[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]]],
         "reward": [[0, 1], [1, 0]]}
POMDP = """discount: 0.9
values: reward
states: up down
actions: run fix
observations: low high
start: 0.5 0.5
T: run
0.9 0.1
0.2 0.8
T: fix
uniform
O: *
0.9 0.1
0.2 0.8
R: run : up : * : * 1
"""
LOG = "# oas-log/1 timing=after\naction,observation\n" + "run,low\nfix,high\n" * 30
STUDY = """format = "oas-study/1"
name = "small"
title = "T"
question = "Q"
answer = "A"
replications = 1
[[sweep]]
name = "a"
kind = "estimation"
size = ["2x2x2"]
"""


def model(**changes):
    document = {**MODEL, **changes}
    return json.dumps({key: value for key, value in document.items() if value != "absent"})


def lines(head, *rows):
    return head + "".join(row + "\n" for row in rows)


def log(*rows, head="action,observation"):
    return lines(f"# oas-log/1 timing=after\n{head}\n", *rows)


def timed(*rows):
    return log(*rows, head="run,time,action,observation")


def pomdp(old, new):
    assert old in POMDP
    return POMDP.replace(old, new)


def json_attacks():
    text = model()
    rows = MODEL["transition"]
    big = 10**400
    yield from {
        "byte order mark": "\ufeff" + text,
        "UTF-16": text.encode("utf-16"),
        "UTF-16 without mark": text.encode("utf-16-le"),
        "half a surrogate": text.replace("up", "\\ud800"),
        "overlong UTF-8": text.encode().replace(b"up", b"\xc0\xaf"),
        "same key twice": text[:-1] + ', "timing": "before"}',
        "same state twice": model(states=["up", "up"]),
        "empty name": model(states=["", "up"]),
        "names of spaces": model(states=[" ", "  "]),
        "name of 1 MB": model(states=["x" * 900_000, "y"]),
        "right to left": model(states=["\u202eup", "down"]),
        "names as other types": model(states=[1, {"a": 2}]),
        "negative by rounding": model(transition=[[[1.0000001, -1e-7], [0.2, 0.8]], rows[1]]),
        "row above 1": model(transition=[[[0.9, 0.2], [0.2, 0.8]], rows[1]]),
        "row of zeros": model(transition=[[[0, 0], [0.2, 0.8]], rows[1]]),
        "literal NaN": text.replace("0.9", "NaN"),
        "literal infinity": text.replace("0.9", "-Infinity"),
        "1e999": text.replace("0.9", "1e999"),
        "numbers as texts": text.replace("0.9", '"0.9"'),
        "numbers as truth": text.replace("0.9", "true"),
        "no states": model(states=0, start="absent"),
        "states below 0": model(states=-1, start="absent"),
        "half a state": model(states=2.5, start="absent"),
        "2^32 + 2 states": model(states=2**32 + 2, start="absent"),
        "2^64 states": model(states=2**64, start="absent"),
        "10^400 states": json.dumps({**MODEL, "states": big}),
        "states null": model(states=None),
        "ragged rows": model(transition=[[[0.9, 0.1], [1]], rows[1]]),
        "one level more": model(transition=[rows]),
        "one level less": model(transition=rows[0]),
        "flat table": model(transition=[0.5] * 8),
        "an action missing": model(transition=rows[:1]),
        "empty start": model(start=[]),
        "long start": model(start=[0.5, 0.5, 0]),
        "start in one state, twice": model(start=[1, 1]),
        "discount 2": model(discount=2),
        "discount -0.0": model(discount=-0.0),
        "unknown key": model(surprise=1),
        "another format": model(format="oas-plan/1"),
        "future format": model(format="oas-model/99"),
        "format as number": model(format=1),
        "odd timing": model(timing="during"),
        "comments": "/* a */" + text + "// b",
        "trailing comma": text[:-1] + ",}",
        "single quotes": text.replace('"', "'"),
        "1 MB of spaces": text[:-1] + " " * 900_000 + "}",
        "1 MB of escapes": model(note="absent").replace("up", "\\u0041" * 150_000),
        "a million digits": text.replace("0.9", "0." + "9" * 900_000),
        "a million zeros": text.replace("0.9", "0" * 900_000 + ".9"),
        "exponent of a million digits": text.replace("0.9", "9e-" + "1" * 900_000),
        "least number": model(transition=[[[1, 5e-324], [5e-324, 1]], rows[1]]),
        "minus zero": model(transition=[[[1, -0.0], [0.2, 0.8]], rows[1]]),
        "rewards that cancel": model(reward=[[1.7e308, -1.7e308], [-1.7e308, 1.7e308]]),
        "rewards of many sizes": model(reward=[[1e-300, 1e90], [1, -1e90]]),
        "both kinds of reward": model(observation_reward=[0, 1]),
        "reading-first and before": model(timing="before", rows="reading-first"),
        "first sensor of no use": model(first_observation=[[1, 0], [1, 0]]),
        "counts below 0": model(observation_counts=[[[-1, 0], [0, 1]], [[1, 1], [1, 1]]]),
        "counts of 1e300": model(observation_counts=[[[1e300, 0], [0, 1]], [[1, 1], [1, 1]]]),
        "density and table": model(density=[]),
        "a list": "[" + text + "]",
        "a text": json.dumps(text),
        "nothing": "",
        "only a bracket": "{",
        "300 states, full": model(
            states=60, start="absent", reward="absent", transition=[[[1 / 60] * 60] * 60] * 2,
            observation=[[[0.5, 0.5]] * 60] * 2),
    }.items()


def pomdp_attacks():
    yield from {
        "nothing": "", "comments only": "# a\n" * 1000, "CRLF": POMDP.replace("\n", "\r\n"),
        "CR only": POMDP.replace("\n", "\r"), "one line": POMDP.replace("\n", " "),
        "form feeds": POMDP.replace(" ", "\f\v"),
        "states twice": pomdp("states: up down", "states: up down\nstates: a b"),
        "no states at all": pomdp("states: up down", "states: 0"),
        "discount 1e999": pomdp("0.9\n", "1e999\n"),
        "costs": pomdp("values: reward", "values: cost"),
        "odd values": pomdp("values: reward", "values: money"),
        "unknown action": pomdp("T: run", "T: walk"),
        "index beyond": pomdp("T: run", "T: 7"),
        "index below 0": pomdp("T: run", "T: -1"),
        "T again and again": POMDP + "T: run : up : up 0.9\n" * 40_000,
        "R again and again": POMDP + "R: * : * : * : * 1\n" * 40_000,
        "start excludes all": pomdp("start: 0.5 0.5", "start exclude: up down"),
        "start includes nobody": pomdp("start: 0.5 0.5", "start include:"),
        "identity of no square": pomdp("observations: low high", "observations: 3").replace(
            "0.9 0.1\n0.2 0.8\nR", "identity\nR"),
        "odd numbers": pomdp("0.5 0.5", ".5 5.e-1"), "hex": pomdp("0.5 0.5", "0x1p-1 0.5"),
        "plus": pomdp("0.5 0.5", "+.5 +.5"), "number and letters": pomdp("0.9 0.1", "0.9x 0.1"),
        "reset": pomdp("uniform", "reset"),
        "keywords as names": POMDP.replace("up", "uniform").replace("down", "identity"),
        "1 MB in a line": pomdp("0.9 0.1", "0.9" + " " * 900_000 + "0.1"),
        "1 MB in a word": pomdp("states: up", "states: " + "u" * 900_000),
        "byte 0": pomdp("uniform", "uni\0form"), "colons": POMDP + ":" * 500_000,
        "sensor missing": pomdp("O: *", "O: run"), "stars": POMDP + "T: * : * : * 0.5\n" * 1000,
        "no numbers": pomdp("0.9 0.1\n0.2 0.8\nT", "T"), "too many": pomdp("uniform", "uniform 1"),
        "50,000 states": "discount: 0.9\nvalues: reward\nstates: 50000\nactions: 1\nobservations: 2"
                         "\nT: 0 identity\nO: * uniform\n",
        "a million actions": pomdp("actions: run fix", "actions: 1000000"),
        "names beyond ASCII": POMDP.replace("up", "größe\u202e"),
        "escape in a name": POMDP.replace("up", "\x1b[2J"),
    }.items()


def pomdpx_attacks(sound):
    def changed(old, new):
        assert old in sound, old
        return sound.replace(old, new)
    yield from {
        "external entity": sound.replace("<pomdpx", '<!DOCTYPE p [<!ENTITY e SYSTEM '
                                         '"file:///etc/passwd">]><pomdpx', 1).replace(
                                             "<Description>", "<Description>&e;"),
        "parameter entity": sound.replace("<pomdpx", '<!DOCTYPE p [<!ENTITY % e SYSTEM '
                                          '"http://localhost/x"> %e;]><pomdpx', 1),
        "false encoding": sound.replace("?>", ' encoding="EBCDIC"?>', 1),
        "UTF-16": sound.encode("utf-16"), "UTF-32": sound.encode("utf-32"),
        "root twice": sound + sound.split("?>", 1)[-1], "no root": "<?xml version='1.0'?>",
        "another root": "<html/>", "no variable": changed("<Variable>", "<Other>").replace(
            "</Variable>", "</Other>"),
        "table in CDATA": changed("<ProbTable>", "<ProbTable><![CDATA[1 0]]>"),
        "comment in a table": changed("<ProbTable>", "<ProbTable><!-- 1 -->"),
        "table too long": changed("<ProbTable>", "<ProbTable>1 1 1 1 1 1 1 1 1 1 1 1 "),
        "table of words": changed("<ProbTable>", "<ProbTable>half "),
        "table of 1 MB": changed("<ProbTable>", "<ProbTable>" + "0.5 " * 200_000),
        "unknown parent": changed("<Parent>", "<Parent>nobody "),
        "no parent": changed("<Parent>", "<Parent></Parent><Other>").replace(
            "</Parent>", "</Other>", 1),
        "decision diagram": changed('type="TBL"', 'type="DD"'),
        "too many stars": changed("<Instance>", "<Instance>* - * - * - "),
        "instructions": changed("<Variable>", "<?run rm?><Variable>"),
        "discount of words": changed("<Discount>", "<Discount>much "),
        "depth": "<pomdpx>" + "<Variable>" * 80_000,
        "two of all": changed("</Variable>", "</Variable><Variable></Variable>"),
        "byte 0": changed("<Variable>", "<Vari\0able>"),
        "values without end": changed("<ValueEnum>", "<ValueEnum>" + "s " * 300_000),
        "ten figures of values": changed("<ValueEnum>", "<NumValues>9999999999</NumValues>"
                                         "<ValueEnum>"),
        "below 0 values": changed("<ValueEnum>", "<NumValues>-3</NumValues><ValueEnum>"),
    }.items()


def csv_attacks():
    yield from {
        "nothing": "", "one byte": "a", "newlines": "\n" * 900_000, "header only": log(),
        "no last newline": LOG[:-1], "CRLF": LOG.replace("\n", "\r\n"),
        "CR only": LOG.replace("\n", "\r"), "mixed ends": LOG.replace("low\n", "low\r\n"),
        "byte order mark": "\ufeff" + LOG, "UTF-16": LOG.encode("utf-16"),
        "open quote": log('run,"low'), "quote in the middle": log('run,lo"w"'),
        "quoted newline": log('run,"lo\nw"'), "quotes of quotes": log("run," + '"' * 900_000),
        "a column twice": log("run,low,low", head="action,observation,observation"),
        "unknown column": log("run,low,1", head="action,observation,x"),
        "no action": log("low", head="observation"), "short row": log("run,low", "run"),
        "long row": log("run,low", "run,low,"), "2^31": log("2147483648,low"),
        "minus 1": log("-1,0"), "1e0": log("1e0,0"), "zeros in front": log("000,001"),
        "plus": log("+1,0"), "spaces around": log(" run , low "), "other case": log("Run,LOW"),
        "look alike": log("run,l\u043ew"), "escape": log("\x1b]0;x\x07,low"),
        "formula": log("=cmd|' /C calc'!A0,low"), "nothing is seen": log(*["run,"] * 50),
        "one row": log("run,low"), "tabs": LOG.replace(",", "\t"), "bars": LOG.replace(",", "|"),
        "a log that lies": LOG.replace("after", "before"), "timing of words": LOG.replace(
            "after", "never"), "future log": LOG.replace("oas-log/1", "oas-log/99"),
        "two heads": LOG + LOG, "comments between": LOG.replace("fix", "# c\nfix"),
        "comments of 1 MB": "#" * 900_000 + "\n" + LOG,
        "runs come back": log(*["a,run,low", "b,run,low"] * 100, head="run,action,observation"),
        "50,000 runs": log(*(f"r{i},run,low" for i in range(50_000)),
                           head="run,action,observation"),
        "runs with quotes": log('"a,b",run,low', '"a""b",run,low', head="run,action,observation"),
        "nameless runs": log(",run,low", head="run,action,observation"),
        "time goes back": timed("a,2,run,low", "a,1,run,low"),
        "no time": timed("a,1,run,low", "a,,run,low"), "same time": timed(*["a,1,run,low"] * 3),
        "30 February": timed("a,2026-02-30,run,low", "a,2026-03-01,run,low"),
        "year 0": timed("a,0000-00-00,run,low"), "year 99999": timed(
            "a,2026-01-01,run,low", "a,99999-01-01,run,low"),
        "time of 1e300": timed("a,1,run,low", "a,1e300,run,low"),
        "hour 25": timed("a,2026-01-01T25:61:61,run,low"),
        "time is NaN": timed("a,nan,run,low", "a,1,run,low"),
        "propensity 0": log("run,low,0", head="action,observation,propensity"),
        "propensity 1e-320": log("run,low,1e-320", head="action,observation,propensity"),
        "propensity of words": log("run,low,high", head="action,observation,propensity"),
        "reward is NaN": log("run,low,nan", "run,low,inf", head="action,observation,reward"),
        "reward 1e308": log(*["run,low,1e308"] * 9, head="action,observation,reward"),
        "likelihood below 0": log("run,-1,1", head="action,likelihood_up,likelihood_down"),
        "likelihood 0": log("run,0,0", head="action,likelihood_up,likelihood_down"),
        "likelihood 1e308": log(*["run,1e308,1e308"] * 9,
                                head="action,likelihood_up,likelihood_down"),
        "likelihood 5e-324": log(*["run,5e-324,0"] * 9,
                                 head="action,likelihood_up,likelihood_down"),
        "one likelihood": log("run,1", head="action,likelihood_up"),
        "states that are none": log("run,low,elsewhere", head="action,observation,state"),
        "state and nothing else": log(*["run,,up"] * 9, head="action,observation,state"),
        "an SVG": log(*["run,low,<svg/onload=alert(1)>"] * 9, head="action,observation,state"),
        "names and indices": log("run,low,a", "run,low,1", head="action,observation,state"),
        "a model": model(), "binary": bytes(range(256)) * 1000,
        "gzip by name": None, "a long cell": log("run," + "x" * 900_000),
        "impossible": log(*["run,low"] * 5),
    }.items()


def packed_attacks():
    body = gzip.compress(LOG.encode())
    yield from {
        "csv.gz": {
            "garbage behind": body + b"garbage", "zeros behind": body + bytes(1000),
            "cut": body[:-6], "checksum": body[:-8] + b"\0\0\0\0" + body[-4:],
            "length": body[:-4] + b"\xff\xff\xff\x7f", "thousands of members": body * 1000,
            "empty members": gzip.compress(b"") * 20_000 + body, "in itself": gzip.compress(body),
            "not packed": LOG.encode(), "only a header": body[:10], "nothing": b"",
            "header with a name of 1 MB": body[:3] + b"\x08" + body[4:10] + b"n" * 900_000 +
                                          b"\0" + body[10:],
            "200 MB of rows": gzip.compress(LOG.encode() + b"run,low\n" * 1_000_000)},
        "csv.zst": {
            "not packed": LOG.encode(), "only a header": b"\x28\xb5\x2f\xfd", "nothing": b"",
            "window of 2 GB": b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00",
            "window of 3.75 TB": b"\x28\xb5\x2f\xfd\x00\xff" + b"\x01\x00\x00",
            "skippable frames": (b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"skip") * 50_000,
            "skips beyond the end": b"\x50\x2a\x4d\x18" + struct.pack("<I", 2**32 - 1) + b"x",
            "a dictionary": b"\x28\xb5\x2f\xfd\x03\x00\x01\x02\x03\x04\x01\x00\x00",
            "content of 2^60": b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2**60) + b"\x01\0\0",
            "noise": b"\x28\xb5\x2f\xfd" + bytes(range(256)) * 300},
    }.items()


def document_attacks(kind, document):
    """What can be wrong with any of our own files, at every key of the first two levels."""
    odd = {"null": None, "a text": "x", "a list": [], "an object": {}, "1e308": 1e308, "-1": -1,
           "2^63": 2**63, "deep": json.loads("[" * 50 + "]" * 50)}
    keys = [[key] for key in document] + [[key, inner] for key, value in document.items()
                                          if isinstance(value, dict) for inner in value]
    for (what, value), path in itertools.product(odd.items(), keys):
        changed = json.loads(json.dumps(document))
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        yield f"{'.'.join(path)} is {what}", json.dumps(changed)
    for key in document:
        yield f"without {key}", json.dumps({k: v for k, v in document.items() if k != key})


def policy_attacks():
    yield from {
        "alpha": {"nothing": "", "action beyond": "9\n1 2\n\n", "action below 0": "-1\n1 2\n\n",
                  "too short": "0\n1\n\n", "too long": "0\n1 2 3\n\n", "words": "0\na b\n\n",
                  "NaN": "0\nnan nan\n\n", "1e308": "0\n1e308 -1e308\n\n1\n-1e308 1e308\n\n",
                  "40,000 vectors": "0\n1 2\n\n" * 40_000, "a line": "0 " * 400_000},
        "policy": {"nothing": "", "no vectors": "<Policy><AlphaVector/></Policy>",
                   "2^31 vectors": '<Policy version="0.1" type="value" model="x"><AlphaVector '
                                   'vectorLength="2147483647" numObsValue="2147483647" '
                                   'numVectors="2147483647"></AlphaVector></Policy>',
                   "seen values of 10^7": '<Policy><AlphaVector vectorLength="2" '
                                          'numObsValue="9999999" numVectors="1"><Vector action="0" '
                                          'obsValue="0">1 2</Vector></AlphaVector></Policy>',
                   "sparse vectors of 10^8": '<Policy><AlphaVector vectorLength="99999999" '
                                             'numVectors="1"><SparseVector action="0" '
                                             'obsValue="0"><Entry>1 1</Entry></SparseVector>'
                                             '</AlphaVector></Policy>',
                   "negative length": '<Policy><AlphaVector vectorLength="-2" numVectors="1">'
                                      '<Vector action="0" obsValue="0">1 2</Vector></AlphaVector>'
                                      '</Policy>',
                   "action beyond": '<Policy><AlphaVector vectorLength="2" numVectors="1"><Vector '
                                    'action="99" obsValue="0">1 2</Vector></AlphaVector></Policy>'},
        "pg": {"nothing": "", "node beyond": "0 0 9 9\n", "action beyond": "0 9 0 0\n",
               "below 0": "0 0 -1 -1\n", "out of order": "1 0 1 1\n0 0 0 0\n",
               "no way on": "0 0 - -\n", "short": "0 0\n", "words": "a b c d\n",
               "20,000 nodes": "".join(f"{i} 0 {(i + 1) % 20_000} 0\n" for i in range(20_000))},
    }.items()


def toml_attacks():
    def changed(old, new):
        assert old in STUDY
        return STUDY.replace(old, new)
    yield from {
        "a date": changed("replications = 1", "replications = 2026-01-01"),
        "infinite": changed("replications = 1", "replications = inf"),
        "10^18 replications": changed("replications = 1", "replications = 1000000000000000000"),
        "none": changed("replications = 1", "replications = 0"),
        "half": changed("replications = 1", "replications = 0.5"),
        "key twice": STUDY + 'name = "b"\nname = "c"\n',
        "dotted key": changed('name = "small"', 'name.x = "small"'),
        "table for a list": changed("[[sweep]]", "[sweep]"),
        "sweep twice": STUDY + STUDY[STUDY.index("[[sweep]]"):],
        "sweep of 10^9": STUDY + "".join(f"{key} = {list(range(1, 1001))}\n"
                                         for key in ("pairs", "first_pairs", "candidates")),
        "size of everything": changed("2x2x2", "999999x999999x999999"),
        "size below 0": changed("2x2x2", "-2x2x2"), "size of words": changed("2x2x2", "axbxc"),
        "unknown kind": changed('"estimation"', '"magic"'),
        "format string": changed('answer = "A"', 'answer = "{0.__class__} {} {error:999999999}"'),
        "open brace": changed('answer = "A"', 'answer = "{"'),
        "script": changed('title = "T"', 'title = "<script>alert(1)</script>"'),
        "multi-line": changed('title = "T"', 'title = """a\n\n\nb"""'),
        "escape": changed('title = "T"', 'title = "\\u001b[31m"'),
        "byte 0": changed('title = "T"', 'title = "\0"'),
        "figure of nothing": STUDY + '[[figure]]\nname = "f"\nkind = "estimation"\nx = "no"\n',
        "figure outside": STUDY + '[[figure]]\nname = "../f"\ntitle = "t"\nkind = "estimation"\n'
                                  'x = "pairs"\ny = "error"\n',
        "20,000 sweeps": STUDY + '[[sweep]]\nname = "b"\n' * 20_000,
        "list of lists": changed('size = ["2x2x2"]', "size = " + "[" * 50 + "]" * 50),
        "nothing": "", "BOM": "\ufeff" + STUDY,
    }.items()
