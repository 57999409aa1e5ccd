import type { NoParams, Sentences } from './reason.ts';

type OfProgram = { readonly program: string };

/** Why a call of a workspace tool needs approval whatever the policy: the effects of its command, or a missing sandbox. */
export interface CommandReasons {
  readonly command_without_sandbox: { readonly user: string };
  readonly write_without_sandbox: { readonly user: string };
  readonly command_too_deep: NoParams;
  readonly command_unparsable: NoParams;
  readonly command_damaged: { readonly error: string };
  readonly command_program_unknown: NoParams;
  readonly command_program_from_elsewhere: NoParams;
  readonly command_text_unknown: NoParams;
  readonly command_starts_itself: OfProgram;
  readonly command_writes_device: { readonly path: string };
  readonly command_deletes_folders: OfProgram;
  readonly command_deletes_found: OfProgram;
  readonly command_destroys: OfProgram;
  readonly command_copies_raw: OfProgram;
  readonly command_changes_disks: OfProgram;
  readonly command_as_other_user: OfProgram;
  readonly command_changes_machine: OfProgram;
  readonly command_runs_later: OfProgram;
  readonly command_changes_rights: OfProgram;
  readonly command_discards_work: OfProgram;
  readonly command_rewrites_history: OfProgram;
  readonly command_reaches_machine: OfProgram;
  readonly command_publishes: OfProgram;
}

export const COMMAND_REASONS: Sentences<CommandReasons> = {
  command_without_sandbox: ({ user }) =>
    `this server has no sandbox: the command runs as the user ${user}, can read and change every file of that user, and has the network`,
  write_without_sandbox: ({ user }) =>
    `this server has no sandbox: it writes as the user ${user}, and only the check of its path keeps it in the workspace`,
  command_too_deep: () => 'the command is nested too deeply to be read',
  command_unparsable: () => 'the command cannot be read as a command line',
  command_damaged: ({ error }) => `the command cannot be read (${error})`,
  command_program_unknown: () => 'the command runs a program that is only known when it runs',
  command_program_from_elsewhere: () => 'the command runs a program that it reads from elsewhere',
  command_text_unknown: () => 'the command runs a text that is only known when it runs',
  command_starts_itself: ({ program }) => `the command starts itself again and again (${program})`,
  command_writes_device: ({ path }) => `the command writes to a device or socket (${path})`,
  command_deletes_folders: ({ program }) => `the command deletes whole folders (${program})`,
  command_deletes_found: ({ program }) => `the command deletes whatever it finds (${program})`,
  command_destroys: ({ program }) => `the command destroys content for good (${program})`,
  command_copies_raw: ({ program }) => `the command writes over files or disks block by block (${program})`,
  command_changes_disks: ({ program }) => `the command changes disks and file systems (${program})`,
  command_as_other_user: ({ program }) => `the command tries to run as another user (${program})`,
  command_changes_machine: ({ program }) => `the command stops or changes the machine (${program})`,
  command_runs_later: ({ program }) => `the command leaves something behind that runs later (${program})`,
  command_changes_rights: ({ program }) => `the command changes the rights of whole folders (${program})`,
  command_discards_work: ({ program }) => `the command throws away work that is not committed (${program})`,
  command_rewrites_history: ({ program }) => `the command changes history or sends it away (${program})`,
  command_reaches_machine: ({ program }) => `the command talks to another machine (${program})`,
  command_publishes: ({ program }) => `the command publishes to the world (${program})`,
};
