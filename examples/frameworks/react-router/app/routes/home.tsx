export default function Home() {
  return <h1>Cities</h1>
}
