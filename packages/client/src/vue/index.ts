export { useToolCalling } from './use-tool-calling.ts';
export type { UseToolCalling } from './use-tool-calling.ts';
