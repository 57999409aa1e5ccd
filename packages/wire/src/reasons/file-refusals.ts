import type { NoParams, Sentences } from './reason.ts';

/** Why the file server of a workspace refuses a request. */
export interface FileRefusals {
  readonly folder_unknown: { readonly path: string };
  readonly path_unknown: { readonly path: string };
  readonly path_with_nul: NoParams;
  readonly path_many_links: { readonly path: string };
  readonly path_outside: { readonly path: string };
  readonly path_leads_outside: { readonly path: string };
  readonly path_not_folder: { readonly path: string };
  readonly path_not_readable: { readonly path: string };
  readonly path_not_searchable: { readonly path: string };
  readonly path_became_link: { readonly path: string };
  readonly path_is_folder: { readonly path: string };
  readonly path_is_link: { readonly path: string };
  readonly path_not_regular: { readonly path: string };
  readonly workspace_is_folder: NoParams;
  readonly workspace_itself_folder: NoParams;
  readonly file_gone_since_read: { readonly path: string };
  readonly file_exists_since_read: { readonly path: string };
  readonly file_changed_since_read: { readonly path: string };
  readonly file_not_writable: NoParams;
  readonly file_no_room: NoParams;
  readonly file_name_too_long: NoParams;
  readonly search_stopped: NoParams;
  readonly system_call_failed: { readonly error: string };
}

export const FILE_REFUSALS: Sentences<FileRefusals> = {
  folder_unknown: ({ path }) => `no such folder: ${path}`,
  path_unknown: ({ path }) => `no such file or folder: ${path}`,
  path_with_nul: () => 'a path must not contain a NUL character',
  path_many_links: ({ path }) => `too many links on the way to ${path}`,
  path_outside: ({ path }) => `${path} is outside the workspace`,
  path_leads_outside: ({ path }) => `${path} leads outside the workspace`,
  path_not_folder: ({ path }) => `${path} is not a folder`,
  path_not_readable: ({ path }) => `${path} may not be read`,
  path_not_searchable: ({ path }) => `${path} is neither a regular file nor a folder`,
  path_became_link: ({ path }) => `${path} was replaced by a link while it was opened`,
  path_is_folder: ({ path }) => `${path} is a folder`,
  path_is_link: ({ path }) => `${path} is a link`,
  path_not_regular: ({ path }) => `${path} is not a regular file`,
  workspace_is_folder: () => 'the path is the workspace itself, a folder: name a file in it',
  workspace_itself_folder: () => 'the path is the workspace itself, a folder: name a file in it',
  file_gone_since_read: ({ path }) => `${path} is gone since it was read: read it again`,
  file_exists_since_read: ({ path }) => `${path} exists already since it was read: read it again`,
  file_changed_since_read: ({ path }) => `${path} has changed since it was read: read it again`,
  file_not_writable: () => 'the file or its folder may not be written',
  file_no_room: () => 'the file is too large, or the disk is full',
  file_name_too_long: () => 'the name is too long',
  search_stopped: () => 'the search was stopped',
  system_call_failed: ({ error }) => `the system call failed: ${error}`,
};
