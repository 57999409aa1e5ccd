import { spawn } from 'node:child_process';
import { browserSettings, type Environment } from '../settings/environment.ts';

interface BrowserCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Returns the command that opens a URL; null if this session has no browser: a server, or a remote shell. */
export function browserCommand(
  environment: Environment,
  platform: NodeJS.Platform,
  url: string,
): BrowserCommand | null {
  const { command, hasDisplay } = browserSettings(environment);
  if (command !== null) {
    // `BROWSER` may have arguments, as `git` and `gh` read it.
    const [file = '', ...args] = command.split(/\s+/).filter((word) => word !== '');
    return file === '' ? null : { command: file, args: [...args, url] };
  }
  switch (platform) {
    case 'darwin':
      return { command: 'open', args: [url] };
    case 'win32':
      return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', url] };
    default:
      return hasDisplay ? { command: 'xdg-open', args: [url] } : null;
  }
}

/** Resolves to false if the command does not exist or fails at once. The browser outlives this process. */
export function startBrowser({ command, args }: BrowserCommand): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true });
    const started = setTimeout(() => done(true), 1000);
    const done = (isStarted: boolean): void => {
      clearTimeout(started);
      child.unref();
      resolve(isStarted);
    };
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
  });
}
