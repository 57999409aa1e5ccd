import { expect, it } from 'vitest';
import { loggedEvents, logsIn } from './logged-events.ts';

it('finds what is logged, however the log is reached', () => {
  const text = `log.info('a.b'); context.log.warn('c', { x: 1 }); this.#log.error('d.e'); console.error('no');
    this.#parts.log.info('f'); other.warn('no');`;
  expect(logsIn('a.ts', text).map(({ event, level }) => `${level} ${event}`)).toEqual([
    'info a.b',
    'warn c',
    'error d.e',
    'info f',
  ]);
});

it('refuses a name that is put together', () => {
  expect(() => logsIn('a.ts', 'log.info(name)')).toThrow('a.ts: an event is logged that has no fixed name');
});

it('reads the sources of the server', () => {
  expect(loggedEvents().get('registry.tool_left_out')).toBe('warn');
});
