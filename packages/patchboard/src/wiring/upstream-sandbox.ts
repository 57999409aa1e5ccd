import { join } from 'node:path';
import { ConfigError } from '../settings/config-file.ts';
import { messageOf } from '../core/failures.ts';
import type { StdioTransportSettings } from '../sources/mcp/mcp-upstream-settings.ts';
import { makeWorkspace, userOf } from '../sandbox/sandbox-user.ts';
import { contains } from './contains.ts';
import { probeSandbox, type WorkspaceSettings } from './sandbox-setup.ts';

/** A command line that runs another one in a sandbox. */
export type WrapCommand = (
  command: string,
  args: readonly string[],
) => { readonly command: string; readonly args: readonly string[] };

/**
 * Returns the sandbox of an upstream's process: the same as that of commands, without a limit on CPU time, because the
 * process runs as long as the server. The process may change its working folder only. Throws a `ConfigError` if this machine has
 * no sandbox.
 */
export async function upstreamSandbox(
  name: string,
  { cwd, sandbox }: StdioTransportSettings,
  { workspace, dataFolder }: { readonly workspace: WorkspaceSettings; readonly dataFolder: string },
): Promise<WrapCommand | null> {
  if (sandbox === null) return null;
  const place = `upstreams.${name}.sandbox`;
  const exposing = sandbox.readable.find((path) => contains(path, dataFolder));
  if (exposing !== undefined)
    throw new ConfigError(
      `${place}.readable: ${exposing} contains the data folder ${dataFolder}, and with it the operator token: name a narrower folder`,
    );
  if (cwd !== null && contains(cwd, dataFolder))
    throw new ConfigError(
      `upstreams.${name}.cwd: ${cwd} contains the data folder ${dataFolder}, and with it the operator token, and the sandbox allows changes in it: name a narrower folder`,
    );
  const limits = { ...workspace.limits, cpuSeconds: Infinity };
  const { enclosure, report } = await probeSandbox(
    { ...workspace, limits, environment: {}, readable: sandbox.readable },
    join(dataFolder, 'sandbox'),
  );
  if (report.problem !== null)
    throw new ConfigError(`${place}: ${report.problem}; or remove it, to run the command without a sandbox`);
  try {
    const root = cwd ?? join(dataFolder, 'upstreams', name);
    makeWorkspace(root);
    const user = enclosure.name === 'bubblewrap' ? userOf(root) : null;
    return (command, args) => {
      const line = enclosure.wrap({
        argv: [command, ...args],
        root,
        cwd: root,
        network: sandbox.network,
        environment: {},
        isService: true,
        user,
      });
      return { command: line.file, args: line.args };
    };
  } catch (error) {
    throw new ConfigError(`${place}: ${messageOf(error)}`);
  }
}
