import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a tool of the workspace, its sandbox or its file server fails. */
export interface WorkspaceFailures {
  readonly workspace_missing: NoParams;
  readonly workspace_elsewhere: { readonly run: string; readonly node: number };
  readonly sandbox_missing: { readonly problem: string };
  readonly sandbox_not_started: NoParams;
  readonly file_server_unavailable: { readonly error: string };
  readonly file_over_limit: { readonly path: string; readonly bytes: number };
  readonly file_over_edit_limit: { readonly path: string; readonly bytes: number };
  readonly file_missing_create: { readonly path: string };
  readonly file_not_text: { readonly path: string };
  readonly file_not_text_read_bytes: { readonly path: string };
  readonly file_changed: { readonly path: string };
  readonly file_under_two_names: { readonly path: string };
  readonly content_half_surrogate: NoParams;
  readonly edit_without_path: { readonly index: number };
  readonly edit_problem: {
    readonly path: string;
    readonly index: number;
    readonly problem: readonly ReasonView[];
  };
  readonly edit_half_surrogate: NoParams;
  readonly edit_same: NoParams;
  readonly edit_empty: NoParams;
  readonly edit_ambiguous: { readonly first: number; readonly second: number };
  readonly edit_line_ends: NoParams;
  readonly edit_not_found: NoParams;
  readonly command_with_nul: NoParams;
  readonly command_over_limit: { readonly bytes: number; readonly most: number };
  readonly command_without_network: NoParams;
  readonly cwd_outside: { readonly path: string };
  readonly jobs_of_run: { readonly count: number };
  readonly job_unknown: { readonly pid: string };
  readonly foreground_timeout: { readonly most: number };
  readonly task_without_agent: NoParams;
  readonly todo_twice: { readonly id: string };
  readonly todos_in_progress: { readonly count: number; readonly ids: string };
}

export const WORKSPACE_FAILURES: Sentences<WorkspaceFailures> = {
  workspace_missing: () => 'there is no workspace for this call',
  workspace_elsewhere: ({ run, node }) =>
    `the workspace of run ${run} is at node ${node}: run the agent there, or share the workspaces with workspace.shared`,
  sandbox_missing: ({ problem }) => `commands and writes are off, because there is no sandbox: ${problem}`,
  sandbox_not_started: () => 'the sandbox did not start',
  file_server_unavailable: ({ error }) => `the file server of the workspace is not available (${error})`,
  file_over_limit: ({ path, bytes }) => `${path} is larger than ${bytes} bytes`,
  file_over_edit_limit: ({ path, bytes }) => `${path} is larger than ${bytes} bytes, the limit for editing`,
  file_missing_create: ({ path }) => `no such file: ${path}; create it with fs_write`,
  file_not_text: ({ path }) => `${path} is not UTF-8 text`,
  file_not_text_read_bytes: ({ path }) => `${path} is not UTF-8 text; encoding base64 reads its bytes`,
  file_changed: ({ path }) => `${path} has changed since this run read it: read it again first`,
  file_under_two_names: ({ path }) => `${path} is given under two names: use one path per file`,
  content_half_surrogate: () => 'content contains a lone surrogate, which cannot be stored as UTF-8',
  edit_without_path: ({ index }) => `edits/${index} names no path, and there is none for all`,
  edit_problem: ({ path, index, problem }) => `${path}, edits/${index}: ${problem}`,
  edit_half_surrogate: () => 'contains a lone surrogate, which cannot be stored as UTF-8',
  edit_same: () => 'old and new are the same',
  edit_empty: () => 'old is empty: give the text to replace',
  edit_ambiguous: ({ first, second }) =>
    `old occurs more than once (lines ${first} and ${second}): include more of the surrounding text, or set replace_all`,
  edit_line_ends: () =>
    String.raw`old is not in the file as written: the lines of the file end with \r\n; write them so in old`,
  edit_not_found: () => 'old is not in the file',
  command_with_nul: () => 'a command must not contain a NUL character',
  command_over_limit: ({ bytes, most }) => `the command has ${bytes} bytes; the limit is ${most}`,
  command_without_network: () => 'commands have no network access here',
  cwd_outside: ({ path }) => `cwd ${path} is outside the workspace`,
  jobs_of_run: ({ count }) => `this run already has ${count} background commands: end one with bash_kill`,
  job_unknown: ({ pid }) => `this run has no command in the background with the pid ${pid}`,
  foreground_timeout: ({ most }) => `timeout_ms is at most ${most}; longer work runs with background: true`,
  task_without_agent: () => 'only an agent of this process can call this tool',
  todo_twice: ({ id }) => `two todos have the id ${id}`,
  todos_in_progress: ({ count, ids }) => `only one todo may be in_progress, not ${count} (${ids})`,
};
