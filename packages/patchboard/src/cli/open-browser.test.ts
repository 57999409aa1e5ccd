import { describe, expect, it } from 'vitest';
import { browserCommand } from './open-browser.ts';

describe('the browser', () => {
  it.each([
    [{ BROWSER: 'firefox --new-tab' }, 'linux', { command: 'firefox', args: ['--new-tab', 'URL'] }],
    [{ DISPLAY: ':0' }, 'linux', { command: 'xdg-open', args: ['URL'] }],
    [{ WAYLAND_DISPLAY: 'w' }, 'linux', { command: 'xdg-open', args: ['URL'] }],
    [{}, 'linux', null],
    [{}, 'darwin', { command: 'open', args: ['URL'] }],
    [{}, 'win32', { command: 'rundll32', args: ['url.dll,FileProtocolHandler', 'URL'] }],
  ] as const)('with %j on %s', (environment, platform, command) => {
    expect(browserCommand(environment, platform, 'URL')).toEqual(command);
  });
});
