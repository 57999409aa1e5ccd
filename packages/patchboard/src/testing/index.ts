/** For tests of agents: a local server with the APIs of model vendors and scripted replies. */
export { scriptedModels } from './scripted-models.ts';
export type { ScriptedModels } from './scripted-models.ts';
export type { Script, ScriptedCall, ScriptedReply, ScriptedTurn, SeenRequest } from './script.ts';
