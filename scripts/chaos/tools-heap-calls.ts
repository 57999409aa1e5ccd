import type { ToolBoard } from './tools-heap-board.ts';
import { WEATHER_BODY } from './tools-heap-data.ts';

/** How one built-in tool is called repeatedly. */
export interface RepeatedCall {
  /** Minimum size of arguments and result together, as JSON, and of what the tool fetches for them. */
  readonly atLeastBytes: number;
  /** Each call depends on the one before; default: several run at once. */
  readonly isSequential?: boolean;
  /** Runs once, before the first call. */
  prepare?(board: ToolBoard): Promise<void>;
  /** Makes call number `n`; resolves with the size of its arguments and result. */
  call(board: ToolBoard, n: number): Promise<number>;
}

const LARGE_BYTES = 50_000;
const FILLER = 'lorem ipsum dolor sit amet '.repeat(3000);
const LARGE_TEXT = FILLER.slice(0, LARGE_BYTES);
const SIDES = ['a'.repeat(LARGE_BYTES), 'b'.repeat(LARGE_BYTES)] as const;
const TODOS = Array.from({ length: 60 }, (_, index) => ({
  id: String(index),
  content: FILLER.slice(index, index + 1000),
  status: 'pending',
}));
const ROWS =
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) ' +
  "select i, printf('%0900d', i) as filler from n";
/** A shell builtin, because starting processes is most of a command's cost. */
const PRINT = `printf '%*s' ${LARGE_BYTES} ''`;

/** Every tool of the packs essentials, workspace and heritage. */
export const REPEATED_CALLS: Readonly<Record<string, RepeatedCall>> = {
  'weather.query': { atLeastBytes: LARGE_BYTES, call: askWeather },
  'database.query': same('database.query', { sql: ROWS }),
  // The longest expression that is allowed.
  'calculation.eval': same('calculation.eval', { expression: `1${'+1'.repeat(2047)}` }, 4000),
  fs_read: onFile('read.txt', FILLER, same('fs_read', { path: 'read.txt' })),
  fs_write: each('fs_write', (n) => ({ path: 'written.txt', content: `${n} ${LARGE_TEXT}` })),
  fs_edit: onFile(
    'edited.txt',
    SIDES[0],
    inSequence(each('fs_edit', (n) => ({ path: 'edited.txt', edits: [swap(n)] }))),
  ),
  fs_multi_edit: onFile(
    'several.txt',
    SIDES[0],
    inSequence(each('fs_multi_edit', (n) => ({ edits: [{ path: 'several.txt', ...swap(n) }] }))),
  ),
  fs_glob: { ...same('fs_glob', { pattern: '**/found-*' }), prepare: makeFiles },
  fs_grep: onFile(
    'lines.txt',
    `${FILLER.slice(0, 500)}\n`.repeat(200),
    same('fs_grep', { pattern: 'lorem', path: 'lines.txt' }),
  ),
  bash_run: same('bash_run', { command: PRINT }),
  bash_logs: readLogs(),
  bash_kill: { atLeastBytes: 50, call: startAndKill },
  todo_read: {
    ...same('todo_read', {}),
    prepare: async (board) => void (await board.call('todo_write', { todos: TODOS })),
  },
  todo_write: same('todo_write', { todos: TODOS }),
  task_run: { atLeastBytes: LARGE_BYTES, call: async (board) => await board.runTask(LARGE_TEXT) },
  get_npc_profile: same('get_npc_profile', { npc_id: 'teller' }),
  search_content: same('search_content', { query: 'lorem', limit: 10 }),
  get_site_map: same('get_site_map', {}),
  create_draft_content: same('create_draft_content', {
    content_type: 'story',
    title: 'A draft',
    // One word, because the full-text index is not measured.
    body: SIDES[0],
  }),
  log_user_event: same('log_user_event', { event_type: 'visit', event_data: { filler: LARGE_TEXT } }),
  get_prompt_active: same('get_prompt_active', { npc_id: 'teller' }),
};

function same(name: string, args: object, atLeastBytes: number = LARGE_BYTES): RepeatedCall {
  return each(name, () => args, atLeastBytes);
}

function each(name: string, argsOf: (n: number) => object, atLeastBytes: number = LARGE_BYTES): RepeatedCall {
  return { atLeastBytes, call: async (board, n) => (await board.call(name, argsOf(n))).bytes };
}

function inSequence(repeated: RepeatedCall): RepeatedCall {
  return { ...repeated, isSequential: true };
}

/** The run has read the file, so it may change it. */
function onFile(path: string, content: string, repeated: RepeatedCall): RepeatedCall {
  return {
    ...repeated,
    prepare: async (board) => {
      await board.call('fs_write', { path, content });
      await board.call('fs_read', { path });
    },
  };
}

/** Toggles between two texts. */
function swap(n: number): { old: string; new: string } {
  const [even, odd] = SIDES;
  return n % 2 === 0 ? { old: even, new: odd } : { old: odd, new: even };
}

async function makeFiles(board: ToolBoard): Promise<void> {
  const name = `found-${'x'.repeat(100)}`;
  await board.call('bash_run', { command: `mkdir many && cd many && touch ${name}-{1..500}` });
}

function readLogs(): RepeatedCall {
  let pid = '';
  return {
    atLeastBytes: LARGE_BYTES,
    prepare: async (board) => {
      pid = await startJob(board, PRINT);
      let offset = 0;
      while (offset < LARGE_BYTES) {
        const { result } = await board.call('bash_logs', { pid, offset, follow: true });
        offset = (result as { nextOffset: number }).nextOffset;
      }
    },
    call: async (board) => (await board.call('bash_logs', { pid })).bytes,
  };
}

/** The report is small, but the two responses it is made from are large. */
async function askWeather(board: ToolBoard): Promise<number> {
  const { bytes } = await board.call('weather.query', { query: 'weather in Beijing' });
  return bytes + 2 * WEATHER_BODY.length;
}

async function startAndKill(board: ToolBoard): Promise<number> {
  const pid = await startJob(board, 'sleep 3600');
  return (await board.call('bash_kill', { pid })).bytes;
}

async function startJob(board: ToolBoard, command: string): Promise<string> {
  const { result } = await board.call('bash_run', { command, background: true });
  return (result as { pid: string }).pid;
}
