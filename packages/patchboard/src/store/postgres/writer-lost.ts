import { StorageUnavailable } from '../../core/failures.ts';

/** This process can write no more: another one took its writer, or the database went back to an earlier state. */
export class WriterLost extends StorageUnavailable {
  constructor(problem: string) {
    super(problem);
    this.name = 'WriterLost';
  }
}

export function fenced(): WriterLost {
  return new WriterLost(
    'another server has taken over this database, because the heartbeat of this one stopped: nothing more can be recorded; start it again',
  );
}

export function restored(what: 'batch' | 'heartbeat', expected: number, found: number): WriterLost {
  return new WriterLost(
    `the database was restored to an earlier state (${what} ${found} instead of ${expected}): what this server has in memory is no longer true; start it again`,
  );
}
