"""What generated queries are made of: literals of every type and of every odd kind, places of a host's inventory, and
queries that people write over it. The generator puts them together."""

from __future__ import annotations

from typing import Final

NUMBERS: Final = (
    "0", "1", "-1", "2", "3", "5", "10", "100", "0.5", "-0.5", "1.5", "2.0", "1e3", "1e-3", "-0", "-0.0", "0.1", "1e17",
    "1e18", "123456789012", "4294967296", "9007199254740991", "9007199254740993", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "18446744073709551616", "123456789012345678901234567890", "1e308",
    "1e309", "-1e309", "5e-324", "2.2250738585072014e-308", "1e-7", "1e21", "1e20", "123456.789", "nan", "infinite",
    "-infinite", "-nan", "1e1000", "0.1e1", "1.", ".5", "00012", "1e+2", "1E2", "1e15", "1e16", "3.0e0",
    "0.30000000000000004", "100000000000000000000000.5", "1.7976931348623157e308", "4.35", "2147483647", "-2147483649",
    "536870912", "1e5", "12.0", "-7", "7.9", "-7.9",
)  # fmt: skip
TEXTS: Final = (
    '""', '"a"', '"b"', '"abc"', '"abcabc"', '"a,b, c"', '"12"', '" 12 "', '"-1.5e4"', '"1e1000"', '"0x10"', '"nan"',
    '"NaN"', '"true"', '"false"', '"null"', '"é"', '"日本語 text"', '"😀a😀"', '"\\u0000"', '"a\\u0000b"',
    '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\udead"', '"\\u00e9\\t\\n\\r\\b\\f\\/\\\\"', '"<&\'\\">"',
    '"it\'s"', '"a\\tb\\\\c"', '"\\u2028\\u2029"', '"\\u007f\\u0080\\u00a0"', '"\\ufeffx"', '"\\ufffd"',
    '"\\u0660\\u0661"', '"１２"', '"\\u00b2"', '"١٢"', '"[1,2"', '"[1,2]"', '"{\\"a\\":1.0}"',
    '"{\\"a\\":{\\"b\\":[null,true]}}"', '"[１]"',
    '"1.0"', '"1.50"', '"[-0,-0.0,1e2]"', '"1e999"', '"+1"', '"-"', '"."',
    '"1 2"', '"nope"', '"%"', '"%41%c3%a9"', '"%zz"', '"a b+c&d=é"', '"aGVsbG8="', '"aGVsbG8"', '"/w=="', '"4pyT"',
    '"====", "a"', '"2015-03-05T23:51:47Z"', '"x86_64"', '"  padded\\t"', '"\\u3000x\\u00a0"', '"Dell Inc."',
    '"A-B_c.9"', '"aaaaa"', '"\\u0130\\u0131\\u1e9e"', '"ǅ"', '"e\\u0301"', '"k1=v1;k2=v2"', '"10.0.0.1/24"',
    '"a\\nb\\nc"', '"zażółć gęślą jaźń"', '"\\\\u0041"', '"\\"\\\\ud800\\""', '"\\"\\\\ud83d\\\\ude00\\""',
    '"\\"a\\\\qb\\""', '"\\"\\u0001\\""', '"nulll"', '"[1,]"', '"{\\"a\\" 1}"', '"{a:1}"', '"\'a\'"', '"[1][2]"',
    '"01"', '"1.e3"', '"-01"', '"1e"', '"tru"', '"\\ufeff1"', '"\\u00a01"', '"[] x"', '"{\\"a\\":1,\\"a\\":2}"',
    '"[[[[]]]]"',
)  # fmt: skip
LISTS: Final = (
    "[]", "[1]", "[1, 2, 3]", "[3, 1, 2]", '["a", "b"]', "[[1, 2], [3, 4]]", "[[1], []]",
    '[null, true, false, 1, "a", [], {}]', "[nan]", "[nan, 1, nan]", "[1, 1.0, 1]", '["b", "a", "b"]',
    '[{"a": 1}, {"a": 2}, {"b": 1}]', "[0, -0.0, 0.0]", '[{"key": "k", "value": 1}]',
    '[{"name": "n", "value": null}, {"k": 1, "v": 2}]', '[["a", 0], "x"]', '[["a"], 1]',
    "[2015, 2, 5, 23, 51, 47.5, 4, 63]", "[1e3, 0]", '["a", 1, null]', "[[[[1]]], 2]", "[range(10)]", '["x", ["y"]]',
    '[{"key": 1}, {"key": null}, {"key": false}]', "[65, 256, 128512]", "[55296]", "[-1]", "[1114112]", "[1.5, 65]",
    "[[0, 1], [1, 0]]", '[{"a": {"b": 2}}, {"a": null}]', "[infinite, -infinite, nan, null]",
    "[9007199254740993, 9007199254740992.0]",
)  # fmt: skip
OBJECTS: Final = (
    "{}", '{"a": 1}', '{"a": 1, "b": [1, 2]}', '{"b": 2, "a": {"c": null}}', '{"a": {"b": {"c": 1}}}',
    '{"é": 1, "z": 2, "a": 3}', '{"": 0}', '{"a": nan}', '{"name": "x", "value": false}', '{"start": 1, "end": 2}',
    '{"start": null, "end": -1}', '{"start": "a", "end": 1}', '{"start": 0.5, "end": 1.5}', '{"start": 1}',
    '{"10": 1, "9": 2, "a b": 3}', '{"\\u0000": 1}', '{"a": [], "b": {}, "c": "x"}', '{"if": 1, "and": 2}',
    '{"😀": 1, "\\uffff": 2, "z": 3}',
)  # fmt: skip
SCALARS: Final = ("null", "true", "false")
LITERALS: Final = (NUMBERS, TEXTS, LISTS, OBJECTS, SCALARS)

EXTREME: Final = (
    "0", "-0.0", "1", "-1", "infinite", "-infinite", "nan", "1e308", "-1e308", "1e309", "5e-324", "-5e-324",
    "2.2250738585072014e-308", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "1e18", "-1e18", "1e19", "1e15", "253402300799", "253402300800",
    "-62135596800", "-62135596801", "1425599621.678", "0.5", "-0.5", "1.5", "2.5", "-2.5", "1023", "1024", "-1074",
    "-1075", "2147483648", "-2147483649", "4294967296", "1e100", "-1e100", "3", "17", "30", "52", "53", "100.7", "700",
    "-700", "1000", "-1000", "0.1", "1e-10", "1e-300", "12345.678", "170.6", "171.7", "-170.5", "33", "1e9", "1e12",
    "-1e12", "-3", "9.2e18", "9223372036854774784", "67767976233532799", "67767976233532800", "-67768040609740800", "2",
    "4", "25", "27", "8.0",
)  # fmt: skip
"""Numbers at the edges, for functions of numbers and for times."""

ORDERS: Final = (
    "0",
    "1",
    "-1",
    "2",
    "-2",
    "3",
    "-3",
    "0.5",
    "7",
    "8.0",
    "17",
    "30",
    "53",
    "100.7",
    "-171",
    "1000",
    "nan",
    "infinite",
    "-infinite",
    "1e300",
)
"""Of Bessel functions: gojq goes up to an order step by step."""

PLACES: Final = (
    ".", ".hostname", ".cpu", ".cpu.count", ".cpu.flags", ".cpu.flags[0]", ".cpu.flags[]", ".cpu.modelName",
    ".cpu.architecture", ".memory", ".memory.physicalBytes", ".disks", ".disks[]", ".disks[0]", ".disks[-1]",
    ".disks[0].name", ".disks[].name", ".disks[].sizeBytes", ".disks[1].installationEligibility",
    ".disks[].installationEligibility.eligible", ".disks[0].installationEligibility.notEligibleReasons[]?",
    ".interfaces", ".interfaces[]", ".interfaces[].speedMbps", ".interfaces[0].ipV4Addresses[0]", ".interfaces[].flags",
    ".boot.currentBootMode", ".systemVendor", ".systemVendor.manufacturer", ".systemVendor.virtual", ".gpus",
    ".gpus[]?", ".nothing", ".nothing.at.all", ".disks[1:]", ".disks[:2]", ".cpu.flags[1:3]", "..",
    ".disks[0].sizeBytes?", '.["cpu"]', '."memory".physicalBytes', '.["cpu"]["count"]', ".bmcAddress", ".hostname[0:4]",
    ".a", ".a.b", ".[0]", ".[]", ".[]?", ".a[]?", ".[1:]", ".[-1]", ".[0].a?",
)  # fmt: skip

ASKED: Final = (
    ".cpu.count",
    ".memory.physicalBytes",
    ".hostname",
    ".boot.currentBootMode",
    ".systemVendor.virtual",
    ".systemVendor.manufacturer",
    ".disks[0].sizeBytes",
    ".interfaces[1].mtu",
    ".gpus",
    ".nothing.at.all",
    ".cpu.flags[2]",
    ".cpu",
    ".memory.usableBytes",
    ".hostname.x",
    ".disks[7].name",
    ".cpu[0]",
)
ASKED_LISTS: Final = (
    ".disks",
    ".disks",
    ".interfaces",
    ".gpus",
    ".cpu.flags",
    ".cpu",
    ".systemVendor",
    ".nothing",
    ".hostname",
    ".interfaces[0].flags",
)
ASKED_FIELDS: Final = (
    "name",
    "driveType",
    "sizeBytes",
    "speedMbps",
    "path",
    "hasCarrier",
    "nothing",
    "vendor",
    "installationEligibility.eligible",
    "flags[0]",
)
"""Places, lists and fields of members for questions about a host."""

REAL: Final = (
    ".cpu.count >= 8 and .memory.physicalBytes < 137438953472",
    "[.disks[] | select(.sizeBytes > 1073741824000)] | length > 3",
    'any(.disks[]?; .driveType == "SSD" and (.name | startswith("nvme")) and .installationEligibility.eligible)',
    '.systemVendor.manufacturer | ascii_downcase | test("^dell")',
    '([.gpus[]? | select(.vendor == "NVIDIA Corporation")] | length > 0)'
    " and ([.interfaces[] | select(.speedMbps >= 25000)] | length >= 2)",
    "[.disks[].sizeBytes] | add / 1000000000 | floor",
    ".disks | group_by(.driveType) | map({type: .[0].driveType, total: (map(.sizeBytes) | add)})",
    ".interfaces | map(.ipV4Addresses[]? | split(\"/\")[0])", '.cpu.flags | contains(["avx512f"])',
    ".cpu.flags | index(\"sse2\") != null",
    '.disks | map(select(.driveType == "SSD")) | sort_by(.sizeBytes, .name) | .[-1].name // "none"',
    'reduce .disks[] as $d ({}; .[$d.driveType] += $d.sizeBytes)',
    "reduce .interfaces[] as {name: $n, speedMbps: $s} ({}; .[$n] = $s)",
    "foreach .disks[] as $d (0; . + $d.sizeBytes; [$d.name, .])",
    '.hostname | capture("host-(?<n>[0-9]+)").n | tonumber % 2 == 0',
    '.cpu.modelName | [scan("[0-9]+")] | map(tonumber) | max',
    '.systemVendor | to_entries | map("\\(.key)=\\(.value)") | join(",")',
    '.cpu as {count: $n, architecture: $a} | "\\($a)-\\($n)"', ".disks |= map(del(.serial, .id))",
    ".disks[].sizeBytes |= . / 1000000000", '.interfaces[] |= with_entries(select(.key | startswith("ip")))',
    "[paths(type == \"number\")] | length", "[leaf_paths] | length",
    "del(.disks[] | select(.installationEligibility.eligible))", "to_entries | map(.key) | sort",
    '[.interfaces[] | select(.hasCarrier) | {name, speed: .speedMbps}]',
    'if .memory.physicalBytes > 1e11 then "large" elif .cpu.count > 4 then "medium" else "small" end',
    'try (.disks[0].size / 0) catch "none"', "first(.disks[] | select(.sizeBytes > 1e12) | .name) // \"no\"",
    "limit(2; .interfaces[]) | .macAddress",
    "label $found | .disks[] | if .sizeBytes > 1e12 then .name, break $found else empty end",
    "[.disks[] | .sizeBytes as $s | {name, gb: ($s / 1e9 | round)}] | INDEX(.name)",
    ".memory | .usableBytes / .physicalBytes * 100 | floor", '[.interfaces[].flags[]] | unique | @csv',
    "[.cpu.flags[] | select(test(\"^s\"))] | @json", ".. | numbers", "[.. | strings | length] | add",
    ".disks | map(.name) | @sh", '"\\(.cpu.count) cores, \\(.memory.physicalBytes / 1073741824 | floor) GiB"',
    'def big: .sizeBytes > 1e12; [.disks[] | select(big)] | length', "def f(g): [.[] | g]; .disks | f(.sizeBytes)",
    ". as [$a, $b] ?// {hostname: $a, cpu: $b} | [$a, $b.count]",
    "[.disks[], .interfaces[]] | map(.name) | sort | unique", "input_line_number",
    "walk(if type == \"object\" then del(.flags) else . end) | keys", "[tostream] | length",
    "fromstream(tostream) == .", ".cpu.flags - [\"fpu\"] | length", "pick(.cpu.count, .memory.physicalBytes)",
    "getpath([\"cpu\", \"count\"]), getpath([\"disks\", 0, \"name\"])", "[.cpu.count, .memory.physicalBytes] | @tsv",
    ".hostname | ltrimstr(\"host-\") | rtrimstr(\".lab.example.com\") | tonumber",
    ".hostname | sub(\"-(?<d>[0-9]+)\"; \"_\\(.d)\") | ascii_upcase", "[.interfaces[].macAddress | gsub(\":\"; \"\")]",
    "with_entries(.value |= type)", "map_values(length?)", "[.disks | combinations?] | length",
    "[range(0; .cpu.count; 2)] | add", "until(type == \"number\"; .cpu? // length)",
    "[.disks[].sizeBytes] | [min, max, (add / length)]",
    '.disks | [.[] | select(.name | IN("nvme0n1", "sda"))] | length', "isempty(.disks[] | select(.sizeBytes < 0))",
    "[splits(\"a\")?], [.hostname | splits(\"[-.]\")]", "1425599621 | todate, gmtime, strftime(\"%A, %B %d, %Y\")",
    '"2015-03-05T23:51:47Z" | fromdate, strptime("%Y-%m-%dT%H:%M:%SZ"), (strptime("%Y-%m-%dT%H:%M:%SZ") | mktime)',
)  # fmt: skip

FORMATS: Final = ("@text", "@json", "@html", "@uri", "@urid", "@csv", "@tsv", "@sh", "@base64", "@base64d")
OPERATORS: Final = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "//")
UPDATES: Final = ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//=")

PATTERNS: Final = (
    '"a"', '"^a"', '"a$"', '"b+"', '"[a-c]+"', '"(a)(b)?"', '"(?<x>a)|(?<y>b)"', '"(?P<n>[0-9]+)"', '""', '"x*"',
    '"\\\\d+"', '"\\\\w"', '"\\\\bhost\\\\b"', '"."', '"(?i)DELL"', '"^$"', '"\\\\s*,\\\\s*"', '"é"', '"[^a]"',
    '"(?:ab)+"', '"a{2,3}"', '"a{1001}"', '"("', '"[z-a]"', '"*a"', '"a**"', '"\\\\"', '"(?=a)"', '"\\\\pL+"',
    '"[[:alpha:]]"', '"\\\\x{1F600}"', '"(?<a>x)(?<a>y)"', '"(?s).*"', '"(?m)^b"', '"a|b|"', '"\\\\Qa.b\\\\E"',
    '"[a-z]+(?<tail>[0-9]*)"', '"((a)|(b))*"', '"\\\\1"', '"(?<1a>x)"', '"a??"', '"(a*)+"', '"😀"', '"\\u0000"',
    '"\\\\C"', '"\\\\z"', '"\\\\Z"', '")"', '"a{,2}"', '"a{2"', '"[]a]"', '"\\\\p{Greek}"', '"(?x)a b"', '"[[:nope:]]"',
    '"(?<n"', '"(?z)"', '"\\\\p{Nope}"', '"a{3,2}"', '"(?i)ſ"', '"k"', '"\\\\h"', '"(?<é>a)"',
)  # fmt: skip
FLAGS: Final = ("null", '"g"', '"i"', '"gi"', '"m"', '"gim"', '"x"', '"n"', '""', '"gz"', "1", '"s"', '"l"', "[]")
SUBJECTS: Final = (
    '"abcabc"', '"aAbB"', '"test host-12.example"', '"a, b,c"', '"日本 é 😀a"', '""', '"aaaa"', '"x\\ny\\nb"',
    '"k1=v1;k2=v2"', '"10.0.0.1/24"', ".hostname", ".cpu.modelName", ".systemVendor.manufacturer", '"ſk\\u212a"',
    '"a\\u0000b"', "1", "null", '"ααβ"', '("/w==" | @base64d)', '"\\ud83d x"', '"xyxy"',
)  # fmt: skip

DATE_FORMATS: Final = (
    '"%Y-%m-%dT%H:%M:%SZ"', '"%Y-%m-%dT%H:%M:%S%z"', '"%A, %B %d, %Y"', '"%c"', '"%D %T"', '"%s"', '"%j"',
    '"%U %W %V %G %u %w"', '"%e|%k|%l|%I|%p|%P"', '"%y %C %g"', '"%Z %z %:z %::z"', '"%f"', '"%%"', '"%n%t"',
    '"%x %X %r %R %F"', '"%h %b %a"', '"%-d %_d %^a %#Z %010Y"', '"%5Y|%-m|%_m|%02d"', '"%Q"', '"%"', '"%Y%"',
    '"%d/%b/%Y:%H:%M:%S %z"', '"%s %f"', '"%v %+"', '"é %Y"', '"%H:%M"', '"%Y %j"', '"%G-W%V-%u"', '"%a %d %b %Y"',
    '"%Y-%m-%d"', '"%S.%f"', '"%E"', '"%10c"', '"%^B %#p"', '"%:::z"', '"%0e %-j %_j"', '"%3f"', '"%B"', '"%Y %U %w"',
    '"%y%m%d"', '"%C%y"', '"%I:%M %p"', '""',
)  # fmt: skip
DATE_TEXTS: Final = (
    '"2015-03-05T23:51:47Z"', '"2015-03-05T23:51:47+0900"', '"2015-03-05T23:51:47+09:00"', '"Thursday, March 05, 2015"',
    '"Thu Mar  5 23:51:47 2015"', '"03/05/15 23:51:47"', '"1425599621"', '"0001-01-01T00:00:00Z"',
    '"9999-12-31T23:59:60Z"', '"2015-02-30T00:00:00Z"', '"2015-13-01T00:00:00Z"', '"2016-02-29T00:00:00Z"',
    '"10/Mar/2015:13:55:36 -0700"', '"2015 063"', '"2015-W10-4"', '"-0001-01-01T00:00:00Z"',
    '"2015-03-05T23:51:47.123Z"', '"٢٠١٥-03-05T23:51:47Z"', '"23:51"', '"thu 5 mar 2015"', '""', '"12:30 PM"',
    '"2015-03-05"', '"150305"', '"2015 09 4"', '"March"', '"x"', '"00000-01-01T00:00:00Z"', '"2015-03-05T24:00:00Z"',
    '"47.5"', '"2015-03-05T23:51:47Zx"', '"1 2"', '"999999999999999999999"', '"-1"',
)  # fmt: skip
ZONES: Final = ("UTC", "UTC", "UTC", "America/Los_Angeles", "Asia/Kolkata", "Europe/Warsaw", "Pacific/Apia")

LOOKS: Final = ("-.", "+.", "-(.a)", ".[0]", ".a", ".[]", ".[1:2]", '.["a"]?', "..", "-.[]?")
TEXTUAL: Final = (
    "tojson", "tostring", "@text", "@json", "tojson | fromjson", "tostring | tonumber", "tojson | length",
    "[.] | tostring", "{a: .} | tojson", "length", "utf8bytelength", "explode", "explode | implode", "ascii_downcase",
    "@uri", "@uri | @urid", "@base64 | @base64d", "@html", "@sh", "tonumber", "toboolean", "fromjson", "trim", "keys",
    "type",
)  # fmt: skip
"""What a value looks like, and what its text does."""
