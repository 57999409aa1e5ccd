/** What tests of agents use: models that say what they were told to say, over a vendor's own wire. */
export { scriptedModels } from './scripted-models.ts';
export type { ScriptedModels } from './scripted-models.ts';
export type { Script, ScriptedCall, ScriptedReply, ScriptedTurn, SeenRequest } from './script.ts';
