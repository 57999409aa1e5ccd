import type * as FileSystem from 'node:fs';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readFile } from '../../src/sandbox/file-server/read-file.ts';
import { replaceFiles } from '../../src/sandbox/file-server/replace-files.ts';

/**
 * The race forced, where the escape suite only hopes for it: right before each single question that the walk asks the
 * system, a folder on the way becomes a link that leads out, or a link becomes a folder. Seen to fail at every mutation
 * tried: folders or files opened without O_NOFOLLOW, and names reached by their path instead of the open folder. The
 * escape suite's race noticed the same mutations in one run of three.
 */

/** Called before each question to the system. */
const moment = vi.hoisted(() => ({ comes: (): void => undefined }));

vi.mock('node:fs', async (importActual) => {
  const actual = await importActual<typeof FileSystem>();
  const asked = ['lstatSync', 'openSync', 'readlinkSync', 'mkdirSync', 'renameSync', 'linkSync'] as const;
  const watched = asked.map((name) => {
    const question = actual[name] as (...given: unknown[]) => unknown;
    const ask = (...given: unknown[]): unknown => {
      moment.comes();
      return question(...given);
    };
    return [name, ask];
  });
  return { ...actual, ...Object.fromEntries(watched) };
});

const SECRET = 'the secret that must not get in';
const MOST_QUESTIONS = 100;

let folder: string;
let root: string;
let outside: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-swap-'));
  root = join(folder, 'root');
  outside = join(folder, 'outside');
});

afterEach(() => {
  moment.comes = () => undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** What is on the way to the public file, and what stands there instead: a link to where the secret is. */
const SWAPS = {
  'a folder that becomes a link': [folderInDoor, linkInDoor],
  'a link that becomes a folder': [linkInDoor, folderInDoor],
  'a file that becomes a link': [folderInDoor, linkAtFile],
  'a link that becomes a file': [folderWithLink, fileAtFile],
} as const;

function folderInDoor(): void {
  rmSync(join(root, 'door'), { recursive: true, force: true });
  mkdirSync(join(root, 'door'));
  fileAtFile();
}

function linkInDoor(): void {
  rmSync(join(root, 'door'), { recursive: true, force: true });
  symlinkSync(outside, join(root, 'door'));
}

function folderWithLink(): void {
  folderInDoor();
  linkAtFile();
}

function fileAtFile(): void {
  rmSync(join(root, 'door/file.txt'), { force: true });
  writeFileSync(join(root, 'door/file.txt'), 'public');
}

function linkAtFile(): void {
  rmSync(join(root, 'door/file.txt'), { force: true });
  symlinkSync(join(outside, 'file.txt'), join(root, 'door/file.txt'));
}

/** Does the work once for each question it asks, with the swap before another one each time. */
function atEachQuestion(
  swap: keyof typeof SWAPS,
  work: () => unknown,
  look: (seen: unknown) => void,
): number {
  const [first, then] = SWAPS[swap];
  for (let nth = 0; nth < MOST_QUESTIONS; nth += 1) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(root, { recursive: true });
    mkdirSync(outside);
    writeFileSync(join(outside, 'file.txt'), SECRET);
    first();
    let questions = 0;
    moment.comes = () => {
      questions += 1;
      if (questions !== nth + 1) return;
      moment.comes = () => undefined;
      then();
    };
    let seen: unknown;
    try {
      seen = work();
    } catch (error) {
      seen = `refused: ${String(error)}`;
    }
    moment.comes = () => undefined;
    look(seen);
    // It asked no more questions than that: every one of them had its swap.
    if (questions <= nth) return nth;
  }
  throw new Error(`more than ${MOST_QUESTIONS} questions`);
}

describe.each(Object.keys(SWAPS) as (keyof typeof SWAPS)[])('%s at any moment', (swap) => {
  it('reveals nothing outside the workspace', () => {
    const work = (): string => {
      const file = readFile(root, 'door/file.txt', { maxBytes: 1000 });
      return file === null ? 'none' : Buffer.from(file.bytes).toString('utf8');
    };
    const seen: unknown[] = [];
    const swaps = atEachQuestion(swap, work, (what) => seen.push(what));
    expect(swaps).toBeGreaterThan(2);
    expect(seen.filter((what) => String(what).includes(SECRET))).toEqual([]);
    expect(seen.every((what) => /^(public|none|refused: .*)$/.test(String(what)))).toBe(true);
  });

  it.each([
    ['a new file', ['door/written.txt']],
    ['a file that is there', ['door/file.txt']],
    [
      'several files, and a folder that has to be made',
      ['door/file.txt', 'door/new/written.txt', 'beside.txt'],
    ],
  ])('lets nothing out: %s', (_what, paths) => {
    const changes = paths.map((path) => ({ path, content: 'mine' }));
    const escaped: string[] = [];
    const swaps = atEachQuestion(
      swap,
      () => replaceFiles(root, changes),
      () => {
        if (readFileSync(join(outside, 'file.txt'), 'utf8') !== SECRET) escaped.push('file.txt');
        escaped.push(...readdirSync(outside).filter((name) => name !== 'file.txt'));
      },
    );
    expect(swaps).toBeGreaterThan(2);
    expect(escaped).toEqual([]);
  });
});
