/**
 * The type of a state as JSON, inferred from its definition: what `stateJson` gives, field by field.
 *
 * A field remembers what rules read in it; what it shows as JSON follows from that, in one place for all kinds. Types only:
 * nothing here exists at run time.
 */
import type { Field, ViewOf } from './field-kind.ts';
import type { ClaimView } from './kinds/claim.ts';
import type { MapView, SetView } from './kinds/collection-view.ts';
import type { LogView } from './kinds/log.ts';
import type { Fields } from './state-schema.ts';

/** What `stateJson` gives of this definition: `StateOf<typeof todo.fields>`. Absent values are null. */
export type StateOf<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

/** What one field shows as JSON. */
export type ValueOf<F extends Field> = Shown<ViewOf<F>>;

/** Views of collections are recognised by their methods, the rest by shape. A `fence` is for tools and not shown. */
type Shown<V> = [V] extends [ClaimView]
  ? { readonly holder: string | null; readonly last: Shown<NonNullable<ClaimView['last']>> | null }
  : V extends undefined
    ? null
    : V extends MapView<infer W>
      ? { readonly [key: string]: Shown<W> }
      : V extends SetView<infer T> & { readonly has: unknown }
        ? readonly Shown<T>[]
        : V extends LogView<infer T>
          ? readonly Shown<T>[]
          : V extends readonly (infer T)[]
            ? readonly Shown<T>[]
            : V extends object
              ? { readonly [K in keyof V]: Shown<V[K]> }
              : V;
