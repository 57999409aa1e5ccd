import type { Enclosure, EnclosureOptions } from './enclosure.ts';
import { baseEnvironment, launch } from './launcher.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** No sandbox. Only clears the environment and sets the per-process limits. */
export function none(options: EnclosureOptions): Enclosure {
  const { tools, limits, environment } = options;
  return {
    name: 'none',
    killsTrees: false,
    tools,
    wrap: (command) => {
      const [file = 'bash', ...args] = launch(command, limits, { countsProcesses: false });
      const env = { ...baseEnvironment(command.root, '/tmp', PATH), ...environment, ...command.environment };
      return { file, args, env };
    },
  };
}
