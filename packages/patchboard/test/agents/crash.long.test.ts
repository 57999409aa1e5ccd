import { describe, it } from 'vitest';
import { closedAfterEach } from '../support/after-each.ts';
import { checkCrash, CRASHES } from './after-crash.ts';

const closeLater = closedAfterEach();

describe('an agent that is killed', () => {
  it.each(CRASHES)(
    'at %s %i goes on, with a result for every request and nothing done twice',
    async (...crash) => {
      await checkCrash(closeLater, crash);
    },
  );
});
