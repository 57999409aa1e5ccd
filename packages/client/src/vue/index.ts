export type { PendingInput } from './pending-inputs.ts';
export { useToolCalling } from './use-tool-calling.ts';
export type { UseToolCalling, UseToolCallingOptions } from './use-tool-calling.ts';
