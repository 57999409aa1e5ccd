import { BadCursor } from '../core/ports.ts';

const CALL_ID = /^tc_[A-Za-z0-9_-]{1,64}$/;
const POSITION = /^[1-9][0-9]{0,14}$/;

/** Calls are listed by id, newest first, so the last id of a page says where the next one begins. */
export function callCursor(cursor: string): string {
  if (!CALL_ID.test(cursor)) throw new BadCursor();
  return cursor;
}

/** Runs may be named by their agent, so their order is that of arrival, and the cursor is a place in it. */
export function runCursor(cursor: string): number {
  if (!POSITION.test(cursor)) throw new BadCursor();
  return Number(cursor);
}
