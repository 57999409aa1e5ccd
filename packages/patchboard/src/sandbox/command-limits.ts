import type { CommandLimits } from './enclosure.ts';

export const DEFAULT_COMMAND_LIMITS: CommandLimits = {
  timeoutMs: 120_000,
  jobMs: 3_600_000,
  cpuSeconds: 600,
  processes: 256,
  fileBytes: 1_073_741_824,
  outputBytes: 131_072,
};
