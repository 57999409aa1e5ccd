import { ACTORS } from './actors/all.ts';
import type { StepDraft } from './actors/actor.ts';
import { drawProfile, type Profile } from './profile.ts';
import { Random } from './random.ts';

/** One thing that an actor does. The actor reads `data`. */
export interface Step extends StepDraft {
  /** `<actor>.<number>`: the same in every plan of the seed, whichever other actors and steps there are. */
  readonly id: string;
  readonly actor: string;
}

/** Everything that a seed decides before the simulation begins. */
export interface Plan {
  readonly seed: number;
  readonly profile: Profile;
  /** In order of time. */
  readonly steps: readonly Step[];
}

export interface PlanOptions {
  /** Ids of the steps that remain; absent: all. */
  readonly keep?: readonly string[];
  /** Replaces members of the profile that the seed draws. */
  readonly profile?: Partial<Profile>;
}

export function planOf(seed: number, { keep, profile: given = {} }: PlanOptions = {}): Plan {
  const random = new Random(seed);
  const profile = { ...drawProfile(random), ...given };
  const steps: Step[] = ACTORS.flatMap(({ name, plan }) =>
    plan(random.of('plan', name), profile).map((draft, index) => ({
      ...draft,
      actor: name,
      id: `${name}.${index + 1}`,
    })),
  );
  const unknown = keep?.filter((id) => !steps.some((step) => step.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`seed ${seed} has no step ${unknown.join(', ')}`);
  const kept = keep === undefined ? steps : steps.filter(({ id }) => keep.includes(id));
  return { seed, profile, steps: kept.toSorted((a, b) => a.at - b.at) };
}
