// Writes the JavaScript of every package with esbuild; the compiler writes the declarations. Does nothing when no source
// changed since the last time.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { filesIn, fingerprintOf } from './fingerprint.mjs';

const SELF = fileURLToPath(import.meta.url);

/** Of `patchboard`. They share chunks, so that a pack imports the classes and registries of the server that loads it. */
const ENTRIES = ['index.ts', 'testing/index.ts', 'cli/main.ts'];
/** Of `patchboard`, run in other processes and threads. Each is one file: a sandbox has only the folder of its program. */
const PROGRAMS = [
  'packs/essentials/database/worker/main.ts',
  'packs/essentials/database/worker/runner.ts',
  'packs/heritage/sqlite/search-worker.ts',
  'sandbox/file-server/main.ts',
  'store/postgres/heartbeat-worker.ts',
  'store/postgres/search/index-worker.ts',
  'store/sqlite/search/index-worker.ts',
];
/** Refuses an older Node. It is a file of its own, because `index.js` must import it before the chunks. */
const NODE_VERSION = 'node-version.ts';
/** Stands for the folder of the output in the generated code. */
const DIST_URL = 'patchboard-dist:';

const OPTIONS = {
  bundle: true,
  write: false,
  format: 'esm',
  sourcemap: true,
  logLevel: 'warning',
};

/** Resolves to true if the code is built; errors go to stderr. */
export async function buildCode(root) {
  const stamp = join(root, 'packages', 'patchboard', 'dist', '.code-built');
  const fingerprint = fingerprintOf(root, inputsOf(root));
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) return true;
  rmSync(stamp, { force: true });
  try {
    await Promise.all([
      buildFiles(join(root, 'packages', 'wire')),
      buildFiles(join(root, 'packages', 'client')),
      buildBundle(join(root, 'packages', 'patchboard')),
    ]);
  } catch {
    return false; // esbuild has printed the errors
  }
  writeFileSync(stamp, fingerprint);
  return true;
}

function inputsOf(root) {
  const sources = ['wire', 'client', 'patchboard'].map((name) => join(root, 'packages', name, 'src'));
  return [SELF, join(root, 'package-lock.json'), ...sources.flatMap(sourcesIn)];
}

function sourcesIn(folder) {
  return filesIn(folder).filter(
    (file) => !/\.(test|test-d|contract|d)\.ts$|__fixtures__/.test(file) && file.endsWith('.ts'),
  );
}

/** One file for each source, so that a bundler of an application can leave modules out. */
async function buildFiles(folder) {
  const src = join(folder, 'src');
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: sourcesIn(src),
    outbase: src,
    outdir: join(folder, 'dist'),
    target: 'es2023',
    plugins: [
      {
        name: 'imports-stay',
        setup(hooks) {
          hooks.onResolve({ filter: /^/ }, ({ path, kind }) =>
            kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true },
          );
        },
      },
    ],
  });
  write(folder, outputFiles);
}

/** A few large files: most of the time of a start would be spent on loading hundreds of modules (decision 136). */
async function buildBundle(folder) {
  const src = join(folder, 'src');
  const options = {
    ...OPTIONS,
    outbase: src,
    outdir: join(folder, 'dist'),
    platform: 'node',
    target: 'node24',
    conditions: ['patchboard-source'],
    plugins: [packagesStayOutside, ownUrls(src)],
  };
  const paths = (names) => names.map((name) => join(src, name));
  const results = await Promise.all([
    build({ ...options, entryPoints: paths(ENTRIES), splitting: true, chunkNames: 'chunks/[name]-[hash]' }),
    build({ ...options, entryPoints: paths([NODE_VERSION, ...PROGRAMS]) }),
  ]);
  write(
    folder,
    results.flatMap(({ outputFiles }) => outputFiles),
  );
}

/** Dependencies are installed beside the package. `wire` and `client` become part of the bundle: they keep no state. */
const packagesStayOutside = {
  name: 'packages-stay-outside',
  setup(hooks) {
    hooks.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@patchboard/') ? undefined : { path, external: true },
    );
    hooks.onResolve({ filter: /^\.\/node-version\.ts$/ }, () => ({
      path: './node-version.js',
      external: true,
    }));
  },
};

/** A module finds files and programs beside itself by `import.meta.url`, which in a chunk would be the URL of the chunk. */
function ownUrls(src) {
  return {
    name: 'own-urls',
    setup(hooks) {
      hooks.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const own = relative(src, path).replaceAll(sep, '/').replace(/\.ts$/, '.js');
        const url = `new URL('${DIST_URL}${own}', import.meta.url).href`;
        return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' };
      });
    },
  };
}

function write(folder, files) {
  const dist = join(folder, 'dist');
  const written = new Set(files.map(({ path }) => path));
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, path.endsWith('.js') ? finish(text, path, dist) : text);
  }
  // The output of deleted sources, and chunks, which are named after their content. They must not be published.
  for (const path of filesIn(dist))
    if (/\.js(\.map)?$/.test(path) && !path.startsWith(join(dist, 'console') + sep) && !written.has(path))
      rmSync(path);
}

/** Keeps the number of every line, which the source map has. */
function finish(text, path, dist) {
  return (
    text
      .replaceAll(new RegExp(`"${DIST_URL}([^"]+)"`, 'g'), (_found, module) => {
        const target = relative(dirname(path), join(dist, module)).replaceAll(sep, '/');
        return JSON.stringify(target.startsWith('.') ? target : `./${target}`);
      })
      // esbuild renames a class that refers to itself.
      .replaceAll(
        /^var (\w+) = class _\1 .*\{$/gm,
        (line, name) => `${line} static { Object.defineProperty(this, "name", { value: "${name}" }); }`,
      )
      // esbuild puts the imports of chunks first.
      .replace(/^([^]+)^(import "\.\/node-version\.js";)$/m, (_found, before, first) => `${first} ${before}`)
  );
}

if (resolve(process.argv[1] ?? '') === SELF && !(await buildCode(dirname(dirname(SELF)))))
  process.exitCode = 1;
