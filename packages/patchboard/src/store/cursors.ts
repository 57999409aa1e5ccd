import { BadCursor } from '../core/ports.ts';

const CALL_ID = /^tc_[A-Za-z0-9_-]{1,64}$/;
const POSITION = /^[1-9][0-9]{0,14}$/;

/** Calls are listed by id, newest first, so the cursor is the last id of a page. */
export function callCursor(cursor: string): string {
  if (!CALL_ID.test(cursor)) throw new BadCursor();
  return cursor;
}

/** The agent may choose the id of a run, so runs are listed in order of arrival, and the cursor is a position in it. */
export function runCursor(cursor: string): number {
  if (!POSITION.test(cursor)) throw new BadCursor();
  return Number(cursor);
}
