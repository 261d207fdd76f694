/** Plurals as Mongoose forms them, so that a model and a Mongoose model of one name share their collection. */

/** The plural of a model's name, with its case: `BlogPosts` of `BlogPost`, `People` of `Person`, `Status` of `Status`. */
export function plural(name: string): string {
  if (SAME.has(name.toLowerCase())) return name
  const [ending, other] = ENDINGS.find(([ending]) => name.search(ending) >= 0) ?? REGULAR
  return name.replace(ending, other)
}

/** The collection of a model that names none: what `mongoose.pluralize()` makes of the model's name. */
export function collectionName(model: string): string {
  return plural(model.toLowerCase())
}

const SAME: ReadonlySet<string> = new Set(
  'advice cooperation deer digestion energy equipment excretion expertise fish health information justice labour machinery media money moose news paper pollution rain rice series sewage sheep species status'.split(
    ' ',
  ),
)

type Ending = readonly [ending: RegExp, plural: string]

const REGULAR: Ending = [/$/, 's']

/** The first that fits a name decides. */
const ENDINGS: readonly Ending[] = [
  [/(?<=human)$/i, 's'],
  [/(?<=m)an$/i, 'en'],
  [/(?<=pe)rson$/i, 'ople'],
  [/(?<=child)$/i, 'ren'],
  [/(?<=^ox)$/i, 'en'],
  [/(?<=ax|test)is$/i, 'es'],
  [/(?<=octop|cact|foc|fung|nucle)us$/i, 'i'],
  [/(?<=alias|status|virus|bus|buffalo|tomato|potato)$/i, 'es'],
  [/(?<=[it])um$/i, 'a'],
  [/(?<=s)is$/i, 'es'],
  [/(?<=[^f])fe$/i, 'ves'],
  [/(?<=[lr])f$/i, 'ves'],
  [/(?<=[^aeiouy]|qu)y$/i, 'ies'],
  [/(?<=x|ch|ss|sh)$/i, 'es'],
  // Not only at the end: MatrixRow.
  [/(?<=matr|vert|ind)ix/gi, 'ices'],
  [/(?<=[ml|])ouse$/i, 'ice'],
  [/(?<=quiz)$/i, 'zes'],
  [/(?<=^g)oose$/i, 'eese'],
  [/(?<=s|[^a-z])$/i, ''],
]
