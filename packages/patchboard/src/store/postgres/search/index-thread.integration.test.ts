import { expect, it, onTestFinished } from 'vitest';
import { sharedPostgres } from '../../../../test/services/shared-postgres.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { IndexThread } from './index-thread.ts';

it('ends a thread whose start failed, so that another one follows, also if a request waited for the index', async () => {
  const { urlFor } = await sharedPostgres(15);
  const logged: string[] = [];
  const log = (event: string): void => void logged.push(event);
  const settings = { schema: 'absent', prepare: true, holder: 'node', keepCallsMs: null };
  const thread = new IndexThread(
    { ...settings, url: urlFor('postgres', 'absent') },
    { info: log, warn: log, error: log },
  );
  onTestFinished(() => thread.close());
  thread.start();
  thread.hurry();
  await waitFor(() => expect(logged).toEqual(['search.index_failed']));
});
