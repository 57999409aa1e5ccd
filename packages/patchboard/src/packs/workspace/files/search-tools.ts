import type { GrepQuery } from '../../../core/sandbox.ts';
import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { argumentsOf, count, FLAG, object, PATH, renamed, TEXT } from '../contract.ts';
import type { WorkspaceRules } from '../rules.ts';

const PATTERN = { type: 'string', minLength: 1, maxLength: 4096 };
const DEFAULT_PATHS = 1000;
const MAX_PATHS = 10_000;
const DEFAULT_MATCHES = 200;
const MAX_MATCHES = 1000;
const MAX_RESULT_CHARACTERS = 400_000;

interface GlobArguments {
  readonly pattern: string;
  readonly exclude?: string | readonly string[];
  readonly path?: string;
  readonly limit?: number;
}

export function globTool(rules: WorkspaceRules): ServerTool {
  return rules.reads({
    name: 'fs_glob',
    description:
      'Find files by a pattern such as src/**/*.ts, in order of their paths. A pattern without a slash is looked for in every folder. What git ignores is left out.',
    inputSchema: object(
      {
        pattern: PATTERN,
        exclude: { anyOf: [PATTERN, { type: 'array', items: PATTERN, maxItems: 100 }] },
        path: { ...PATH, description: 'folder to look in' },
        limit: count(1, MAX_PATHS, `at most so many, ${DEFAULT_PATHS} by default`),
      },
      ['pattern'],
    ),
    outputSchema: object({ paths: { type: 'array', items: TEXT }, truncated: FLAG }, ['paths', 'truncated']),
    spell: (args) => renamed(args, { glob: 'pattern', ignore: 'exclude' }),
    execute: async (args, { sandbox, signal }) => {
      const { pattern, exclude = [], path = '.', limit = DEFAULT_PATHS } = argumentsOf<GlobArguments>(args);
      const excluded = typeof exclude === 'string' ? [exclude] : exclude;
      return await sandbox.files.glob({ pattern, exclude: excluded, path, limit }, signal);
    },
  });
}

interface GrepArguments {
  readonly pattern: string;
  readonly path?: string;
  readonly flags?: string;
  readonly literal?: boolean;
  readonly glob?: string;
  readonly context?: number;
  readonly limit?: number;
}

export function grepTool(rules: WorkspaceRules): ServerTool {
  const match = object(
    {
      path: TEXT,
      line: { type: 'integer' },
      text: TEXT,
      before: { type: 'array', items: TEXT },
      after: { type: 'array', items: TEXT },
    },
    ['path', 'line', 'text'],
  );
  return rules.reads({
    name: 'fs_grep',
    description:
      'Search file contents with ripgrep: a regular expression, or a literal text. Flags: i ignores case, w whole words, s lets it span lines.',
    inputSchema: object(
      {
        pattern: PATTERN,
        path: { ...PATH, description: 'file or folder to look in' },
        flags: { type: 'string', pattern: '^[iswm]{0,4}$' },
        literal: { ...FLAG, description: 'the pattern is plain text' },
        glob: { ...PATTERN, description: 'only in files like these' },
        context: count(0, 20, 'lines to show before and after'),
        limit: count(1, MAX_MATCHES, `at most so many, ${DEFAULT_MATCHES} by default`),
      },
      ['pattern'],
    ),
    outputSchema: object({ matches: { type: 'array', items: match }, truncated: FLAG }, [
      'matches',
      'truncated',
    ]),
    spell: (args) => renamed(args, { query: 'pattern', include: 'glob', head_limit: 'limit' }),
    execute: async (args, { sandbox, signal }) => {
      const { matches, truncated } = await sandbox.files.grep(
        queryOf(argumentsOf<GrepArguments>(args)),
        signal,
      );
      const kept = fitting(matches);
      return { matches: kept, truncated: truncated || kept.length < matches.length };
    },
  });
}

function queryOf(args: GrepArguments): GrepQuery {
  const { pattern, path = '.', flags = '', literal = false, glob = null, context = 0 } = args;
  return {
    pattern,
    literal,
    ignoreCase: flags.includes('i'),
    wholeWord: flags.includes('w'),
    multiline: flags.includes('s') || flags.includes('m'),
    path,
    glob,
    context,
    limit: args.limit ?? DEFAULT_MATCHES,
  };
}

/** Keeps as many matches as fit into a result. */
function fitting<T>(matches: readonly T[]): T[] {
  let room = MAX_RESULT_CHARACTERS;
  return matches.filter((match) => {
    room -= JSON.stringify(match).length;
    return room >= 0;
  });
}
