/**
 * The sign-in screen: the ways that the app has.
 *
 * @module
 */

import { type FormEvent, type ReactNode, useState } from 'react'
import { useLocation } from 'react-router'
import { useAdmin, useSentence } from '../context.ts'
import { titleOf } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { session } from '../kept.ts'
import { PLACE } from '../providers.ts'
import { isOpenToGuests } from '../session.ts'
import { Language } from './layout.tsx'
import { focus, Head, Notice } from './parts.tsx'
import { type SecondStep, secondStepIn, useOffer, useRefused, useWay, type Way } from './ways.ts'

/** Signs in by password, a code by mail or a passkey, with a second step if the account has one. */
export function SignIn() {
  const { title, refusal } = useAdmin()
  const [second, setSecond] = useState(() => secondStepIn(refusal))
  const identity = useState('')
  return (
    <main className="sign-in">
      <Head title={title} />
      {second ? (
        <Second {...second} onBack={() => setSecond(undefined)} />
      ) : (
        <First onSecond={setSecond} identity={identity} />
      )}
      <Language />
    </main>
  )
}

/** What led here, as react-admin has it. */
interface Leading {
  readonly nextPathname?: string
  readonly nextSearch?: string
  readonly ended?: { readonly reason: string }
}

/** Who signs in: typed once, for each way and over a step back. */
interface Identified {
  readonly identity: readonly [string, (typed: string) => void]
}

function First({ onSecond, identity }: Identified & { onSecond: (step: SecondStep) => void }) {
  const { shape, providers } = useAdmin()
  const t = useStrings()
  const { go, ...way } = useWay(onSecond)
  const { state } = useLocation() as { state: Leading | null }
  const [isByCode, setByCode] = useState(false)
  const { routes = {} } = shape.accounts ?? {}
  const By = isByCode ? ByCode : ByPassword
  function leave(begin: () => unknown): void {
    const { nextPathname = '/', nextSearch = '' } = state ?? {}
    session.setItem(PLACE, nextPathname + nextSearch)
    begin()
  }
  useOffer(go, routes.passkeyLogin !== undefined)
  return (
    <>
      {state?.ended && (
        <Notice kind="info">
          {t('hasEnded')} {state.ended.reason}
        </Notice>
      )}
      <Refusal />
      <By {...{ go, identity }} {...way} />
      <div className="ways">
        {providers.map(({ name, begin }) => (
          <button type="button" key={name} onClick={() => leave(begin)}>
            {t('signInAt', { name: titleOf(name) })}
          </button>
        ))}
        {routes.passkeyLogin && (
          <button type="button" onClick={() => go({ way: 'passkey' })}>
            {t('passkeySignIn')}
          </button>
        )}
        {routes.sendLoginCode && (
          <button type="button" onClick={() => setByCode(!isByCode)}>
            {t(isByCode ? 'byPassword' : 'codeByMail')}
          </button>
        )}
        {isOpenToGuests(shape) && (
          <button type="button" className="link" onClick={() => go({ way: 'guest' })}>
            {t('guest')}
          </button>
        )}
      </div>
    </>
  )
}

/** Why someone who comes back from a provider has not been signed in. */
function Refusal() {
  const { refusal } = useAdmin()
  const t = useStrings()
  const refused = useRefused()
  if (!refusal || secondStepIn(refusal)) return null
  const reason = refusal.status === 0 ? refusal.message : refused(refusal)
  return <Notice kind="error">{t('notSignedIn', { reason })}</Notice>
}

function Identifier({ identity: [value, onChange] }: Identified) {
  const { shape } = useAdmin()
  const t = useStrings()
  const kind = shape.accounts?.routes.passkeyLogin ? 'username webauthn' : 'username'
  return <Text label={t('identifier')} {...{ value, onChange }} autoComplete={kind} />
}

function ByPassword({ go, failure, isBusy, identity }: Way & Identified) {
  const t = useStrings()
  const [identifier] = identity
  const [password, setPassword] = useState('')
  const submit = () => go({ way: 'login', body: { identifier, password } })
  return (
    <StepForm onSubmit={submit} {...{ isBusy, failure }} action={t('signIn')}>
      <Identifier identity={identity} />
      <Text
        label={t('password')}
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
      />
    </StepForm>
  )
}

function ByCode({ go, failure, isBusy, identity }: Way & Identified) {
  const { accounts } = useAdmin()
  const t = useStrings()
  const sentence = useSentence()
  const [identifier] = identity
  const [otp, setOtp] = useState('')
  const [isSent, setSent] = useState(false)
  const [unsent, setUnsent] = useState('')
  async function submit(): Promise<void> {
    if (isSent) return void (await go({ way: 'login', body: { identifier, otp } }))
    const result = await accounts?.sendLoginCode?.({ identifier })
    setSent(result?.ok === true)
    setUnsent(result?.ok ? '' : sentence(result?.error))
  }
  return (
    <StepForm
      onSubmit={submit}
      {...{ isBusy, failure: failure || unsent }}
      action={t(isSent ? 'signIn' : 'sendCode')}
    >
      <Identifier identity={identity} />
      {isSent && (
        <>
          <Notice kind="info">{t('codeSent')}</Notice>
          <Text label={t('code')} value={otp} onChange={setOtp} {...CODE} />
        </>
      )}
    </StepForm>
  )
}

function Second({ ticket, secondStep, onBack }: SecondStep & { onBack: () => void }) {
  const t = useStrings()
  const { shape } = useAdmin()
  const { go, failure, isBusy } = useWay()
  const byPasskey = secondStep.includes('passkey') && shape.accounts?.routes.passkeyLogin
  const [kind, setKind] = useState(secondStep.includes('totp') ? 'totp' : secondStep[0])
  const [code, setCode] = useState('')
  const member = kind === 'totp' ? 'totp' : 'recoveryCode'
  const nameOf = (one?: string) => t(one === 'totp' ? 'totpCode' : 'recoveryCode')
  const others = secondStep.filter((one) => one !== kind && one !== 'passkey')
  return (
    <>
      <h2>{t('second')}</h2>
      <p>{t('secondText')}</p>
      {kind === 'passkey' ? (
        !byPasskey && <Notice kind="error">{t('noPasskeys')}</Notice>
      ) : (
        <StepForm
          onSubmit={() => go({ way: 'login', body: { ticket, [member]: code } })}
          {...{ isBusy, failure }}
          action={t('confirm')}
        >
          <Text key={kind} label={nameOf(kind)} value={code} onChange={setCode} {...CODE} />
        </StepForm>
      )}
      <div className="ways">
        {byPasskey && (
          <button type="button" onClick={() => go({ way: 'passkey', body: { ticket } })}>
            {t('passkeySignIn')}
          </button>
        )}
        {others.map((one) => (
          <button
            type="button"
            key={one}
            onClick={() => {
              setKind(one)
              setCode('')
            }}
          >
            {nameOf(one)}
          </button>
        ))}
        <button type="button" className="link" onClick={onBack}>
          {t('back')}
        </button>
      </div>
    </>
  )
}

/** A form with one button. */
export function StepForm(props: {
  children: ReactNode
  action: string
  /** Other ways, beside the button. */
  beside?: ReactNode
  isBusy?: boolean
  failure?: string
  onSubmit: () => unknown
}) {
  const { children, action, beside, isBusy = false, failure, onSubmit } = props
  const [isSent, setSent] = useState(false)
  const isOff = isBusy || isSent
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (isOff) return
    setSent(true)
    await Promise.resolve(onSubmit()).finally(() => setSent(false))
  }
  const button = (
    <button type="submit" className="primary" aria-disabled={isOff}>
      {action}
    </button>
  )
  return (
    <form onSubmit={submit}>
      <Notice kind="error">{failure}</Notice>
      {children}
      {beside ? (
        <div className="buttons">
          {button}
          {beside}
        </div>
      ) : (
        button
      )}
    </form>
  )
}

/** What is typed next, in the place of what had the focus. */
const CODE = { autoComplete: 'one-time-code', takesFocus: true } as const

/** A labelled line of text. */
export function Text(props: {
  label: string
  value: string
  onChange: (value: string) => void
  type?: string
  autoComplete?: string
  takesFocus?: boolean
}) {
  const { label, onChange, takesFocus = false, ...rest } = props
  // Apps show blanks within codes.
  const read = (text: string) =>
    rest.autoComplete === CODE.autoComplete ? text.replace(/\s/g, '') : text
  return (
    <label className="field">
      <span>{label}</span>
      <input
        required
        {...rest}
        ref={takesFocus ? focus : null}
        onChange={({ target }) => onChange(read(target.value))}
      />
    </label>
  )
}
