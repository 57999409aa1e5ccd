import { onTestFinished } from 'vitest';
import { createPatchboard, type BoardOptions, type Patchboard } from '../../src/index.ts';

/** A board that is closed when the test has ended. */
export async function aBoard(options: BoardOptions = {}): Promise<Patchboard> {
  const board = await createPatchboard(options);
  onTestFinished(() => board.close());
  return board;
}
