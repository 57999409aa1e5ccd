import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { NpcProfile, NpcPrompt, PromptType } from '../records.ts';

type Row = Record<string, SQLOutputValue>;

const PROFILE = `npc_id, version, active, name, persona, knowledge_domains, greeting_templates, max_response_length,
  must_cite_sources`;
const PROMPT = 'npc_id, prompt_type, version, active, prompt_text';

/** Versioned profiles and prompts of characters. */
export class PeopleTables {
  readonly #active: StatementSync;
  readonly #version: StatementSync;
  readonly #profiles: StatementSync;
  readonly #retireProfile: StatementSync;
  readonly #putProfile: StatementSync;
  readonly #activePrompt: StatementSync;
  readonly #prompts: StatementSync;
  readonly #retirePrompt: StatementSync;
  readonly #putPrompt: StatementSync;

  constructor(database: DatabaseSync) {
    this.#active = database.prepare(
      `select ${PROFILE} from npcs where site = ? and npc_id = ? and active = 1`,
    );
    this.#version = database.prepare(
      `select ${PROFILE} from npcs where site = ? and npc_id = ? and version = ?`,
    );
    this.#profiles = database.prepare(`select ${PROFILE} from npcs where site = ? order by npc_id, version`);
    this.#retireProfile = database.prepare('update npcs set active = 0 where site = ? and npc_id = ?');
    this.#putProfile = database.prepare(
      `insert or replace into npcs (site, ${PROFILE}) values (?, ${PROFILE.replaceAll(/\w+/g, '?')})`,
    );
    this.#activePrompt = database.prepare(
      `select ${PROMPT} from prompts where site = ? and npc_id = ? and prompt_type = ? and active = 1`,
    );
    this.#prompts = database.prepare(
      `select ${PROMPT} from prompts where site = ? order by npc_id, prompt_type, version`,
    );
    this.#retirePrompt = database.prepare(
      'update prompts set active = 0 where site = ? and npc_id = ? and prompt_type = ?',
    );
    this.#putPrompt = database.prepare(
      `insert or replace into prompts (site, ${PROMPT}) values (?, ${PROMPT.replaceAll(/\w+/g, '?')})`,
    );
  }

  profile(site: number, npcId: string, version: number | null): NpcProfile | undefined {
    const row = version === null ? this.#active.get(site, npcId) : this.#version.get(site, npcId, version);
    return row === undefined ? undefined : toProfile(row);
  }

  profiles(site: number): NpcProfile[] {
    return this.#profiles.all(site).map(toProfile);
  }

  /** An active profile deactivates the other versions. */
  putProfile(site: number, profile: NpcProfile): void {
    if (profile.active) this.#retireProfile.run(site, profile.npc_id);
    this.#putProfile.run(
      site,
      profile.npc_id,
      profile.version,
      profile.active ? 1 : 0,
      profile.name,
      JSON.stringify(profile.persona),
      JSON.stringify(profile.knowledge_domains),
      JSON.stringify(profile.greeting_templates),
      profile.max_response_length,
      profile.must_cite_sources ? 1 : 0,
    );
  }

  activePrompt(site: number, npcId: string, type: PromptType): NpcPrompt | undefined {
    const row = this.#activePrompt.get(site, npcId, type);
    return row === undefined ? undefined : toPrompt(row);
  }

  prompts(site: number): NpcPrompt[] {
    return this.#prompts.all(site).map(toPrompt);
  }

  putPrompt(site: number, prompt: NpcPrompt): void {
    const { npc_id: npcId, prompt_type: type, version, active, prompt_text: text } = prompt;
    if (active) this.#retirePrompt.run(site, npcId, type);
    this.#putPrompt.run(site, npcId, type, version, active ? 1 : 0, text);
  }
}

function toProfile(row: Row): NpcProfile {
  const json = (column: string): unknown => JSON.parse(String(row[column]));
  return {
    ...(row as unknown as NpcProfile),
    active: row['active'] === 1,
    persona: json('persona') as NpcProfile['persona'],
    knowledge_domains: json('knowledge_domains') as string[],
    greeting_templates: json('greeting_templates') as string[],
    must_cite_sources: row['must_cite_sources'] === 1,
  };
}

function toPrompt(row: Row): NpcPrompt {
  return { ...(row as unknown as NpcPrompt), active: row['active'] === 1 };
}
