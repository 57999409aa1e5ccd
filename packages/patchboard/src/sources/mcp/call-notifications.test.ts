import { expect, it } from 'vitest';
import type { Log } from '../../core/ports.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { SecretMask } from '../shared/secret-mask.ts';
import { notificationHandler } from './call-notifications.ts';

const SECRET = 'ghp_0123456789abcdef';

function aHandler() {
  const clock = new FakeClock();
  const reports: unknown[] = [];
  const lines: unknown[] = [];
  const log: Log = {
    info: (event, fields) => lines.push({ event, ...fields }),
    warn: () => {},
    error: () => {},
  };
  const parts = { upstream: 'github', mask: new SecretMask([SECRET]), clock };
  const handle = notificationHandler(parts, { progress: (data) => reports.push(data), log });
  return { clock, reports, lines, handle };
}

it('passes progress on, masked', () => {
  const { reports, handle } = aHandler();
  handle('notifications/progress', { progressToken: 'tc_1', progress: 1, total: 4, message: `at ${SECRET}` });
  handle('notifications/progress', { progress: 'much' });
  handle('notifications/other', { progress: 3 });
  expect(reports).toEqual([{ progress: 1, total: 4, message: 'at [redacted]' }, {}]);
});

it('drops progress that comes too fast', () => {
  const { clock, reports, handle } = aHandler();
  for (let progress = 0; progress < 80; progress += 1) handle('notifications/progress', { progress });
  expect(reports).toHaveLength(50);
  clock.pass(1000);
  handle('notifications/progress', { progress: 80 });
  expect(reports).toHaveLength(51);
});

it('logs at most 20 messages of a call, masked before they are cut', () => {
  const { lines, handle } = aHandler();
  const data = `${'x'.repeat(990)}${SECRET}`;
  handle('notifications/message', { level: 'warning', logger: 'db', data });
  for (let count = 0; count < 30; count += 1)
    handle('notifications/message', { level: 'info', data: { count } });
  expect(lines).toHaveLength(20);
  expect(lines.slice(0, 2)).toEqual([
    {
      event: 'upstream.message',
      upstream: 'github',
      level: 'warning',
      logger: 'db',
      message: `${'x'.repeat(990)}[redacted]`,
    },
    { event: 'upstream.message', upstream: 'github', level: 'info', message: '{"count":0}' },
  ]);
});
