import { reason } from '@patchboard/wire';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { failure } from '../core/failures.ts';
import type { Clock, Log, Store } from '../core/ports.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { UnusableFolder } from '../sandbox/sandbox-user.ts';
import { BoardError } from '../sdk/board-error.ts';
import {
  openSandboxSetup,
  resolveWorkspace,
  type SandboxSetup,
  type WorkspaceOptions,
} from '../wiring/sandbox-setup.ts';

export interface BoardSandboxParts {
  /** Null: a temporary folder, deleted when the board closes. */
  readonly folder: string | null;
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
}

/** Returns null if no workspace was requested. Closes the store if the workspace cannot be opened. */
export async function boardSandboxSetup(
  given: WorkspaceOptions | undefined,
  { folder, store, log, clock }: BoardSandboxParts,
): Promise<SandboxSetup | null> {
  if (given === undefined) return null;
  const temporary = folder === null ? await mkdtemp(join(tmpdir(), 'patchboard-')) : null;
  const discard = async (): Promise<void> => {
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  };
  try {
    const home = resolve(temporary ?? folder ?? '.');
    const isTemporary = temporary !== null;
    const parts = { store, ids: timeOrderedIds(clock), log, folder: home, isTemporary, tasks: true };
    const setup = await openSandboxSetup(resolveWorkspace(given), parts);
    return {
      ...setup,
      close: async () => {
        await setup.close();
        await discard();
      },
    };
  } catch (error) {
    await discard();
    await store.close();
    if (error instanceof UnusableFolder)
      throw new BoardError(
        failure('body_invalid', reason('at_place', { place: 'workspace', problem: [error.reason] })),
      );
    throw error;
  }
}
