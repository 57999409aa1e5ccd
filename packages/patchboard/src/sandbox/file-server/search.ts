import { spawn, type ChildProcess } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { GlobAnswer, GlobQuery, GrepAnswer, GrepMatch, GrepQuery } from '../../core/sandbox.ts';
import { Refusal } from './refusal.ts';
import { atPlace } from './walk.ts';

export interface SearchParts {
  readonly root: string;
  readonly ripgrep: string;
  readonly signal: AbortSignal;
}

const COMMON_ARGUMENTS = [
  '--no-config',
  '--color',
  'never',
  '--hidden',
  '--no-require-git',
  '--glob',
  '!.git',
];
const MAX_PATHS = 1_000_000;
const MAX_TEXT = 2000;
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 4096;

/** Lists matching and non-ignored files separately: a glob on ripgrep's command line would also match ignored files. */
export async function glob(parts: SearchParts, query: GlobQuery): Promise<GlobAnswer> {
  const at = linkFree(parts.root, query.path);
  const folder = { ...parts, root: join(parts.root, at) };
  const excluded = query.exclude.flatMap((pattern) => ['--glob', `!${pattern}`]);
  const listed = ['--files', ...COMMON_ARGUMENTS, ...excluded];
  const [matching, visible] = await Promise.all([
    paths(folder, [...listed, '--glob', query.pattern]),
    paths(folder, listed),
  ]);
  const found = [...matching]
    .filter((path) => visible.has(path))
    .map((path) => join(at, path))
    .sort();
  return { paths: found.slice(0, query.limit), truncated: found.length > query.limit };
}

async function paths(parts: SearchParts, args: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  await ripgrep(parts, ['--null', ...args], 0, (record) => {
    found.add(withoutDot(record.toString('utf8')));
    return found.size < MAX_PATHS;
  });
  return found;
}

export async function grep(parts: SearchParts, query: GrepQuery): Promise<GrepAnswer> {
  const matches: { match: GrepMatch & { before: string[]; after: string[] } }[] = [];
  const context = new Map<string, { line: number; text: string }[]>();
  let truncated = false;
  await ripgrep(parts, [...grepArguments(query), '--', linkFree(parts.root, query.path)], 10, (record) => {
    const { type, data } = JSON.parse(record.toString('utf8')) as RipgrepRecord;
    if (type !== 'match' && type !== 'context') return true;
    if (matches.length >= query.limit && type === 'match') {
      truncated = true;
      return false;
    }
    const path = withoutDot(textOf(data.path));
    const text = shortened(textOf(data.lines));
    const line = data.line_number ?? 0;
    const lines = context.get(path) ?? [];
    context.set(path, lines);
    lines.push({ line, text });
    if (type === 'match') matches.push({ match: { path, line, text, before: [], after: [] } });
    return true;
  });
  return { matches: matches.map(({ match }) => withContext(match, context, query.context)), truncated };
}

function withContext(
  { path, line, text }: GrepMatch,
  context: ReadonlyMap<string, readonly { line: number; text: string }[]>,
  count: number,
): GrepMatch {
  if (count === 0) return { path, line, text };
  const near = (context.get(path) ?? []).filter((one) => Math.abs(one.line - line) <= count);
  return {
    path,
    line,
    text,
    before: near.filter((one) => one.line < line).map((one) => one.text),
    after: near.filter((one) => one.line > line).map((one) => one.text),
  };
}

interface RipgrepRecord {
  readonly type: string;
  readonly data: {
    readonly path: RipgrepText;
    readonly lines: RipgrepText;
    readonly line_number: number | null;
  };
}

type RipgrepText = { readonly text: string } | { readonly bytes: string };

function grepArguments(query: GrepQuery): string[] {
  return [
    ...COMMON_ARGUMENTS,
    '--json',
    '--sort=path',
    `--context=${query.context}`,
    ...(query.literal ? ['--fixed-strings'] : []),
    ...(query.ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
    ...(query.wholeWord ? ['--word-regexp'] : []),
    ...(query.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(query.glob === null ? [] : ['--glob', query.glob]),
    '--regexp',
    query.pattern,
  ];
}

/** Runs ripgrep, which matches in linear time, and passes its records to `take` until that returns false. */
async function ripgrep(
  { root, ripgrep: program, signal }: SearchParts,
  args: readonly string[],
  separator: number,
  take: (record: Buffer) => boolean,
): Promise<void> {
  const child: ChildProcess = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  // First of all: without an 'error' listener, a failed spawn would end this process. It then has no streams either.
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  let problem = '';
  let enough = false;
  child.stderr?.on('data', (chunk: Buffer) => {
    if (problem.length < MAX_ERROR_BYTES) problem += chunk.toString('utf8');
  });
  const records = new Records(separator);
  child.stdout?.on('data', (chunk: Buffer) => {
    for (const record of records.take(chunk)) {
      if (enough || take(record)) continue;
      enough = true;
      child.kill('SIGKILL');
    }
  });
  const code = await ended;
  // 1: no match. 2 with output on stdout: some files could not be read; their absence from the result is accepted.
  if (enough || code === 0 || code === 1) return;
  if (
    /regex parse error|error parsing glob|regex could not be compiled|unrecognized|not allowed/i.test(problem)
  )
    throw new Refusal('input_invalid', { code: 'text', params: { text: problem.trim() } });
  if (code === null) throw new Refusal('tool_failed', { code: 'search_stopped', params: {} });
}

/** Splits a stream into records, and drops records that are too long. */
class Records {
  readonly #separator: number;
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(separator: number) {
    this.#separator = separator;
  }

  *take(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (;;) {
      const to = chunk.indexOf(this.#separator, from);
      const piece = chunk.subarray(from, to === -1 ? chunk.length : to);
      this.#restBytes += piece.length;
      if (this.#restBytes <= MAX_RECORD_BYTES) this.#rest.push(piece);
      else this.#rest = [];
      if (to === -1) return;
      if (this.#restBytes <= MAX_RECORD_BYTES) yield Buffer.concat(this.#rest);
      this.#rest = [];
      this.#restBytes = 0;
      from = to + 1;
    }
  }
}

/** Resolves links, because ripgrep follows a link on its command line. Refuses everything but files and folders. */
function linkFree(root: string, path: string): string {
  return atPlace(root, path, false, ({ handle, path: found }) => {
    const kind = lstatSync(handle, { throwIfNoEntry: false });
    if (kind === undefined) throw new Refusal('tool_failed', { code: 'path_unknown', params: { path } });
    // A FIFO would block the search forever.
    if (!kind.isFile() && !kind.isDirectory())
      throw new Refusal('tool_failed', { code: 'path_not_searchable', params: { path } });
    return `./${found}`;
  });
}

function withoutDot(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

function textOf(given: RipgrepText): string {
  return 'text' in given ? given.text : Buffer.from(given.bytes, 'base64').toString('utf8');
}

function shortened(line: string): string {
  const text = line.replace(/\r?\n$/, '');
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
