// Checks for the programs that only tests need. It runs before tests, never before a start: a start changes
// nothing outside its own folders. As root with apt-get it installs missing ones (in a terminal it asks
// first), else it prints the command to run.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';

/** `debian`: the apt package; `brew`: the Homebrew package. */
const NEEDED = [
  { debian: 'curl', brew: 'brew install curl', isThere: () => onPath('curl') },
  { debian: 'python3-requests', brew: 'python3 -m pip install requests', isThere: hasRequests },
  { debian: 'chromium', brew: 'brew install --cask chromium', isThere: hasChromium },
  { debian: 'bubblewrap', brew: 'brew install bubblewrap', isThere: hasSandbox },
  { debian: 'procps', brew: 'brew install proctools', isThere: () => onPath('pgrep') },
  // Without a CJK font, Chinese text in screenshots is boxes.
  { debian: 'fonts-wqy-microhei', brew: 'brew install font-noto-sans-cjk', isThere: hasChineseFont },
  { debian: 'postgresql', brew: 'brew install postgresql', isThere: hasPostgres },
  { debian: 'pgbouncer', brew: 'brew install pgbouncer', isThere: hasPgbouncer },
  { debian: 'nats-server', brew: 'brew install nats-server', isThere: hasNats },
  { debian: 'haproxy', brew: 'brew install haproxy', isThere: hasHaproxy },
  { debian: 'openssl', brew: 'brew install openssl', isThere: () => onPath('openssl') },
];

/** Not needed: Chromium without its user interface, which takes a quarter less CPU time. Without it the tests use `chromium`. */
const PREFERRED = 'chromium-headless-shell';

const missing = NEEDED.filter(({ isThere }) => !isThere());
if (missing.length > 0) await installMissing();
if (!onPath(PREFERRED)) installPreferred();

async function installMissing() {
  const names = missing.map(({ debian }) => debian);
  const prefix = rootPrefix();
  if (!onPath('apt-get')) giveUp(names, missing.map(({ brew }) => brew).join(' && '));
  const install = `apt-get install -y ${names.join(' ')}`;
  if (prefix === undefined || !(await agreed(install))) giveUp(names, `sudo ${install}`);
  process.stderr.write(`patchboard: installing what the tests need: ${names.join(', ')}…\n`);
  // Refresh the package list only if it is empty or old.
  if (!apt(prefix, ['install', ...names])) {
    apt(prefix, ['update']);
    apt(prefix, ['install', ...names]);
  }
  const left = missing.filter(({ isThere }) => !isThere()).map(({ debian }) => debian);
  if (left.length > 0) giveUp(left, `sudo apt-get install -y ${left.join(' ')}`);
}

/** Never asks: what is not needed is not worth a question. */
function installPreferred() {
  const prefix = onPath('apt-get') && !isAttended() ? rootPrefix() : undefined;
  if (prefix === undefined) return;
  process.stderr.write(`patchboard: installing what makes the tests faster: ${PREFERRED}…\n`);
  if (!apt(prefix, ['install', PREFERRED])) process.stderr.write('patchboard: continuing without it\n');
}

function apt(prefix, args) {
  const command = [...prefix, 'apt-get', '-y', '-q', '--no-install-recommends', ...args];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command[0], command.slice(1), { env, stdio: ['ignore', 2, 2] }).status === 0;
}

/** Prefix for a command that needs root; undefined if root needs a password. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  const isUnattended = Boolean(process.env.CI) && spawnSync('sudo', ['-n', 'true']).status === 0;
  return isUnattended ? ['sudo', '-n'] : undefined;
}

async function agreed(command) {
  if (!isAttended()) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`The tests need more programs. Run "${command}" now? [Y/n] `);
  terminal.close();
  return !/^n/i.test(answer.trim());
}

function isAttended() {
  return process.stdin.isTTY && !process.env.CI;
}

function giveUp(names, command) {
  process.stderr.write(`patchboard: the tests need ${names.join(', ')}. Install with:\n  ${command}\n`);
  process.exit(1);
}

function hasChromium() {
  return onPath('chromium') || existsSync('/Applications/Chromium.app/Contents/MacOS/Chromium');
}

/** macOS has its own fonts; without fontconfig the check is skipped. */
function hasChineseFont() {
  const asked = spawnSync('fc-list', [':lang=zh'], { encoding: 'utf8' });
  return process.platform === 'darwin' || asked.error !== undefined || asked.stdout.trim() !== '';
}

/** macOS has its own. */
function hasSandbox() {
  return process.platform === 'darwin' || onPath('bwrap');
}

function onPath(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
}

/** Debian's package, else any Python that can import it. */
function hasRequests() {
  if (existsSync('/usr/bin/python3') && existsSync('/usr/lib/python3/dist-packages/requests')) return true;
  return ['python3', '/usr/local/bin/python3', '/usr/bin/python3'].some(
    (command) => spawnSync(command, ['-c', 'import requests']).status === 0,
  );
}

/** Debian keeps the server's binaries out of PATH, one folder per version. */
function hasPostgres() {
  const folder = '/usr/lib/postgresql';
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  return versions.some((version) => existsSync(join(folder, version, 'bin', 'initdb'))) || onPath('initdb');
}

/** Debian installs it for root's PATH only. */
function hasPgbouncer() {
  return existsSync('/usr/sbin/pgbouncer') || onPath('pgbouncer');
}

/** Debian installs it for root's PATH only. */
function hasNats() {
  return existsSync('/usr/sbin/nats-server') || onPath('nats-server');
}

/** Debian installs it for root's PATH only. */
function hasHaproxy() {
  return existsSync('/usr/sbin/haproxy') || onPath('haproxy');
}
