// Makes the vendored files and their manifest. `make vendor` runs it; a test runs it into another folder and compares.
import {createHash} from 'node:crypto';
import {readFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, '../../src/muster/console/third_party');
const files = {'lit.js': 'lit.js', 'codemirror.js': 'editor.js'};
const manifest = {};
mkdirSync(target, {recursive: true});

for (const [name, entry] of Object.entries(files)) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    legalComments: 'none',
    metafile: true,
    minify: true,
    target: 'es2022',
    write: false,
  });
  const packages = [...new Set(Object.keys(result.metafile.inputs)
    .map((each) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(each)?.[1]).filter(Boolean))].sort();
  const described = packages.map((each) => {
    const {version, license} = JSON.parse(readFileSync(join(here, 'node_modules', each, 'package.json'), 'utf8'));
    return {name: each, version, license};
  });
  const licences = described.map((each) =>
    `${each.name} ${each.version}, ${each.license}\n\n${readFileSync(join(here, 'node_modules', each.name, 'LICENSE'), 'utf8').trim()}\n`);
  const code = Buffer.from(result.outputFiles[0].contents);
  writeFileSync(join(target, name), code);
  writeFileSync(join(target, `${name}.LICENSE`), licences.join(`\n${'-'.repeat(80)}\n\n`));
  manifest[name] = {sha256: createHash('sha256').update(code).digest('hex'), bytes: code.length, packages: described};
}
writeFileSync(join(target, 'manifest.json'), JSON.stringify(manifest, null, 2) + '\n');
