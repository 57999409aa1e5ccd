import type { Session } from './sessions.ts';

const OPERATOR_SESSIONS = 1000;
const KEY_SESSIONS = 1000;
const SESSIONS_PER_KEY = 20;

/**
 * Returns the sessions to remove before one more is opened: those that have ended, and the oldest where a limit is reached.
 * Operators and keys have separate limits: no key can end the session of an operator by opening many of its own.
 * `keyId`: the key that opens the session; null for an operator.
 */
export function sessionsInTheWay(
  sessions: ReadonlyMap<string, Session>,
  keyId: string | null,
  hasEnded: (session: Session) => boolean,
): readonly string[] {
  const ended = new Set([...sessions].filter(([, session]) => hasEnded(session)).map(([hash]) => hash));
  const alive = [...sessions].filter(([hash]) => !ended.has(hash));
  const oldestOver = (limit: number, counts: (session: Session) => boolean): void => {
    const counted = alive.filter(([hash, session]) => !ended.has(hash) && counts(session));
    for (const [hash] of counted.slice(0, Math.max(0, counted.length - limit + 1))) ended.add(hash);
  };
  if (keyId === null) oldestOver(OPERATOR_SESSIONS, (session) => session.keyId === undefined);
  else {
    oldestOver(SESSIONS_PER_KEY, (session) => session.keyId === keyId);
    oldestOver(KEY_SESSIONS, (session) => session.keyId !== undefined);
  }
  return [...ended];
}
