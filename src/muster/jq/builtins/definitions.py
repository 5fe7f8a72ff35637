"""Builtins written in jq, one definition per name and number of arguments. Names with an underscore are natives that
only these definitions may call. Resolved when a query first uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFINITIONS: Mapping[str, str] = {
    # going over things
    "map/1": "def map(f): [.[] | f];",
    "map_values/1": "def map_values(f): .[] |= f;",
    "select/1": "def select(f): if f then . else empty end;",
    "add/1": "def add(f): [f] | add;",
    "in/1": "def in(container): . as $key | container | has($key);",
    "recurse/0": "def recurse: recurse(.[]?);",
    "recurse/1": "def recurse(f): def deeper: ., (f | deeper); deeper;",
    "recurse/2": "def recurse(f; condition): recurse(f | select(condition));",
    "with_entries/1": "def with_entries(f): to_entries | map(f) | from_entries;",
    "walk/1": """
        def walk(f):
          def visit: if type == "array" then map(visit) elif type == "object" then map_values(visit) else . end | f;
          visit;""",
    # loops
    "while/2": "def while(condition; f): def go: if condition then ., (f | go) else empty end; go;",
    "until/2": "def until(condition; f): def go: if condition then . else f | go end; go;",
    "repeat/1": "def repeat(f): def again: f, again; again;",
    "range/1": "def range($end): _range(0; $end; 1);",
    "range/2": "def range($start; $end): _range($start; $end; 1);",
    "range/3": "def range($start; $end; $step): _range($start; $end; $step);",
    # some of many
    "first/0": "def first: .[0];",
    "first/1": "def first(f): label $done | f | ., break $done;",
    "last/0": "def last: .[-1];",
    "nth/1": "def nth($n): .[$n];",
    "nth/2": """
        def nth($n; f):
          if $n < 0 then error("nth doesn't support negative index") else first(skip($n; f)) end;""",
    "limit/2": """
        def limit($n; f):
          if $n < 0 then error("limit doesn't support negative count")
          elif $n == 0 then empty
          else label $done | foreach f as $item ($n; . - 1; $item, if . <= 0 then break $done else empty end)
          end;""",
    "skip/2": """
        def skip($n; f):
          if $n < 0 then error("skip doesn't support negative count")
          elif $n == 0 then f
          else foreach f as $item ($n; . - 1; if . < 0 then $item else empty end)
          end;""",
    "isempty/1": "def isempty(f): label $done | (f | false, break $done), true;",
    "any/0": "def any: any(.[]; .);",
    "any/1": "def any(f): any(.[]; f);",
    "any/2": "def any(generator; condition): isempty(generator | select(condition)) | not;",
    "all/0": "def all: all(.[]; .);",
    "all/1": "def all(f): all(.[]; f);",
    "all/2": "def all(generator; condition): isempty(generator | select(condition | not));",
    "IN/1": "def IN(stream): any(stream == .; .);",
    "IN/2": "def IN(source; stream): any(source == stream; .);",
    # by kind
    "arrays/0": 'def arrays: select(type == "array");',
    "objects/0": 'def objects: select(type == "object");',
    "iterables/0": 'def iterables: select(type | . == "array" or . == "object");',
    "booleans/0": 'def booleans: select(type == "boolean");',
    "numbers/0": 'def numbers: select(type == "number");',
    "finites/0": "def finites: select(isfinite);",
    "normals/0": "def normals: select(isnormal);",
    "strings/0": 'def strings: select(type == "string");',
    "nulls/0": "def nulls: select(. == null);",
    "values/0": "def values: select(. != null);",
    "scalars/0": 'def scalars: select(type | . != "array" and . != "object");',
    # order
    "min_by/1": "def min_by(f): _min_by(map([f]));",
    "max_by/1": "def max_by(f): _max_by(map([f]));",
    "sort_by/1": "def sort_by(f): _sort_by(map([f]));",
    "group_by/1": "def group_by(f): _group_by(map([f]));",
    "unique_by/1": "def unique_by(f): _unique_by(map([f]));",
    # paths
    "del/1": "def del(f): delpaths([path(f)]);",
    "paths/0": "def paths: path(..) | select(. != []);",
    "paths/1": "def paths(f): path(.. | select(f)) | select(. != []);",
    "pick/1": "def pick(f): . as $whole | reduce path(f) as $path (null; setpath($path; $whole | getpath($path)));",
    # streams of path and leaf
    "tostream/0": """
        def tostream:
          path(def inner: (.[]? | inner), .; inner) as $path
          | getpath($path)
          | reduce path(.[]?) as $last ([$path, .]; [$path + $last]);""",
    "fromstream/1": """
        def fromstream(f):
          foreach f as $event (null;
            (if .e then null else . end)
            | $event as [$path, $leaf]
            | if $event | length == 2
              then setpath(["v"] + $path; $leaf) | .e = ($path | length == 0)
              else .e = ($path | length == 1)
              end;
            if .e then .v else empty end);""",
    "truncate_stream/1": """
        def truncate_stream(f):
          . as $depth | null | f | if .[0] | length > $depth then .[0] |= .[$depth:] else empty end;""",
    # combinations and joins
    "combinations/0": """
        def combinations:
          if length == 0 then [] else .[0][] as $head | [$head] + (.[1:] | combinations) end;""",
    "combinations/1": "def combinations(n): [limit(n; repeat(.))] | combinations;",
    "INDEX/1": "def INDEX(key): INDEX(.[]; key);",
    "INDEX/2": "def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);",
    "JOIN/2": "def JOIN($index; key): [.[] | [., $index[key]]];",
    "JOIN/3": "def JOIN($index; rows; key): rows | [., $index[key]];",
    "JOIN/4": "def JOIN($index; rows; key; joined): rows | [., $index[key]] | joined;",
    # dates
    "fromdateiso8601/0": 'def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%S%z") | mktime;',
    "todateiso8601/0": 'def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");',
    "fromdate/0": "def fromdate: fromdateiso8601;",
    "todate/0": "def todate: todateiso8601;",
    # regular expressions
    "match/1": "def match($re): _match($re; null)[];",
    "match/2": "def match($re; $flags): _match($re; $flags)[];",
    "test/2": "def test($re; $flags): _test($re; $flags);",
    "capture/1": "def capture($re): _match($re; null)[] | .captures | _captures;",
    "capture/2": "def capture($re; $flags): _match($re; $flags)[] | .captures | _captures;",
    "scan/1": "def scan($re): scan($re; null);",
    "scan/2": """
        def scan($re; $flags):
          _match($re; $flags + "g")[] | if .captures == [] then .string else [.captures[].string] end;""",
    "splits/1": "def splits($re): .[_pieces($re; null)[]];",
    "splits/2": "def splits($re; $flags): .[_pieces($re; $flags)[]];",
    "split/2": "def split($re; $flags): _splits($re; $flags);",
    "sub/2": "def sub($re; new): sub($re; new; null);",
    "sub/3": """
        def sub($re; new; $flags):
          . as $text
          | reduce _match($re; $flags)[] as $found ([0, []];
              . as [$from, $made]
              | $text[$from:$found.offset] as $gap
              | reduce ($found.captures | _captures | new) as $piece ([0, $made];
                  [.[0] + 1, _append_text(.[1]; .[0]; $gap + $piece)])
              | [$found.offset + $found.length, .[1]])
          | $text[.[0]:] as $rest
          | .[1] | if . == [] then $text else .[] + $rest end;""",
    "gsub/2": 'def gsub($re; new): sub($re; new; "g");',
    "gsub/3": 'def gsub($re; new; $flags): sub($re; new; $flags + "g");',
}
