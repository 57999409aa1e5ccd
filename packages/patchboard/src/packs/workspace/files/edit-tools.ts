import { reason } from '@patchboard/wire';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { ServerTool, ToolContext } from '../../../core/tools/server-tool.ts';
import { servicesOf } from '../../../core/workspaces.ts';
import type { FileChange, FileVersion } from '../../../core/sandbox.ts';
import { argumentsOf, FLAG, object, PATH, refuse, renamed, TEXT } from '../contract.ts';
import type { WorkspaceRules } from '../rules.ts';
import { applyEdits, type Edit } from './apply-edits.ts';
import { emitFileChange } from './file-events.ts';
import { inTurn } from './in-turn.ts';
import { readText, refuseStale } from './text-files.ts';

interface PathEdit extends Edit {
  readonly path?: string;
}

interface FileEdits {
  readonly path: string;
  readonly edits: readonly Edit[];
  /** The index of each edit among all edits, for messages. */
  readonly numbers: readonly number[];
}

interface EditedFile {
  readonly path: string;
  readonly replacements: number;
  readonly diff: string | null;
}

const MAX_EDITS = 1000;
const MAX_DIFF_CHARACTERS = 100_000;
const DIFF_CONTEXT_LINES = 3;
/** Computing the diff blocks the event loop, so it is given up after this time. */
const DIFF_TIMEOUT_MS = 40;
const EDIT_NAMES = {
  old_string: 'old',
  old_text: 'old',
  new_string: 'new',
  new_text: 'new',
  file_path: 'path',
};
const EDIT_PROPERTIES = {
  old: { ...TEXT, description: 'what is there now, exactly; must be there once' },
  new: { ...TEXT, description: 'what takes its place, literally' },
  replace_all: { ...FLAG, description: 'replace every occurrence' },
};
const RESULT = {
  path: TEXT,
  replacements: { type: 'integer' },
  diff: { type: ['string', 'null'], description: 'unified; null when it would be too long' },
};

export function editTools(rules: WorkspaceRules): ServerTool[] {
  return [editTool(rules), multiEditTool(rules)];
}

function editTool(rules: WorkspaceRules): ServerTool {
  const edits = {
    type: 'array',
    minItems: 1,
    maxItems: MAX_EDITS,
    items: object(EDIT_PROPERTIES, ['old', 'new']),
  };
  return rules.writes({
    name: 'fs_edit',
    description:
      'Change a text file by literal replacements, applied in order, all or none. Refused if the file has changed since this run read it.',
    inputSchema: object({ path: PATH, edits }, ['path', 'edits']),
    outputSchema: object(RESULT, Object.keys(RESULT)),
    spell: spellEdits,
    execute: async (args, context) => {
      const { path, edits: given } = argumentsOf<{ path: string; edits: readonly Edit[] }>(args);
      const numbers = given.map((_, index) => index);
      const [file] = await editFiles([{ path, edits: given, numbers }], context);
      return file;
    },
  });
}

function multiEditTool(rules: WorkspaceRules): ServerTool {
  const edits = {
    type: 'array',
    minItems: 1,
    maxItems: MAX_EDITS,
    items: object({ path: PATH, ...EDIT_PROPERTIES }, ['old', 'new']),
  };
  return rules.writes({
    name: 'fs_multi_edit',
    description:
      'Change several text files by literal replacements: all of them or none. Each edit names its file, or path names it for all.',
    inputSchema: object({ path: PATH, edits }, ['edits']),
    outputSchema: object({ files: { type: 'array', items: object(RESULT, Object.keys(RESULT)) } }, ['files']),
    spell: spellEdits,
    execute: async (args, context) => {
      const { path, edits: given } = argumentsOf<{ path?: string; edits: readonly PathEdit[] }>(args);
      return { files: await editFiles(byFile(given, path), context) };
    },
  });
}

/** Accepts a single edit beside the path, without a list. */
function spellEdits(given: unknown): unknown {
  const args = renamed(given, EDIT_NAMES);
  if (typeof args !== 'object' || args === null) return args;
  const { old, new: next, replace_all: all, ...rest } = args as Record<string, unknown>;
  if (!('edits' in rest) && old !== undefined && next !== undefined)
    return { ...rest, edits: [{ old, new: next, ...(all === undefined ? {} : { replace_all: all }) }] };
  const { edits } = args as Record<string, unknown>;
  return Array.isArray(edits) ? { ...args, edits: edits.map((edit) => renamed(edit, EDIT_NAMES)) } : args;
}

function byFile(edits: readonly PathEdit[], shared: string | undefined): FileEdits[] {
  const files = new Map<string, { path: string; edits: Edit[]; numbers: number[] }>();
  for (const [index, { path = shared, ...edit }] of edits.entries()) {
    if (path === undefined) throw refuse('input_invalid', reason('edit_without_path', { index }));
    const file = files.get(path) ?? { path, edits: [], numbers: [] };
    file.edits.push(edit);
    file.numbers.push(index);
    files.set(path, file);
  }
  return [...files.values()];
}

async function editFiles(files: readonly FileEdits[], context: ToolContext): Promise<EditedFile[]> {
  return await inTurn(servicesOf(context).filePool, async () => {
    const { changes, results } = await editedFiles(files, context);
    for (const file of await context.sandbox.files.replace(changes)) rememberOwn(context, file);
    return results;
  });
}

async function editedFiles(
  files: readonly FileEdits[],
  context: ToolContext,
): Promise<{ changes: FileChange[]; results: EditedFile[] }> {
  const { sandbox } = context;
  const { filePool } = servicesOf(context);
  const changes: FileChange[] = [];
  const results: EditedFile[] = [];
  for (const { path, edits, numbers } of files) {
    const before = await readText(sandbox, path);
    refuseStale(filePool, before);
    const edited = applyEdits(before.text, edits);
    if (!edited.ok)
      throw refuse(
        'tool_failed',
        reason('edit_problem', { path, index: numbers[edited.edit] ?? 0, problem: [edited.problem] }),
      );
    if (changes.some((change) => change.path === before.path))
      throw refuse('input_invalid', reason('file_under_two_names', { path }));
    changes.push({ path: before.path, content: edited.text, expected: before.version });
    results.push({
      path: before.path,
      replacements: edited.replacements,
      diff: short(unifiedDiff(before.path, before.text, edited.text)),
    });
  }
  return { changes, results };
}

function rememberOwn(context: ToolContext, file: FileVersion): void {
  servicesOf(context).filePool.remember(file);
  emitFileChange(context, file, 'modified');
}

/** Returns null if the diff takes longer than `timeoutMs`. */
export function unifiedDiff(
  path: string,
  before: string,
  after: string,
  timeoutMs: number = DIFF_TIMEOUT_MS,
): string | null {
  if (before === after) return '';
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: DIFF_CONTEXT_LINES,
    timeout: timeoutMs,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch ?? null;
}

function short(diff: string | null): string | null {
  return diff !== null && diff.length > MAX_DIFF_CHARACTERS ? null : diff;
}
