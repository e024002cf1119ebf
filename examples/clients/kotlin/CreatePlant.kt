// Creates a plant with a random id: ACCESS_TOKEN=… java -jar create-plant.jar http://127.0.0.1:3000 'Monstera deliciosa' body.json
// The file keeps the body until the plant is stored or refused. If it exists, its body is sent, and the name is ignored.
import java.io.File
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.nio.file.Files
import java.security.SecureRandom
import java.util.concurrent.CompletionException
import java.util.concurrent.TimeUnit
import kotlin.random.Random
import kotlin.system.exitProcess

const val MAX_ATTEMPTS = 6
const val MAX_RETRY_AFTER_S = 60.0

/** Nothing was stored, and the same request can succeed later. */
val NOT_STORED = setOf(4080, 5030, 5032)

/** Does not follow redirects, by default: a redirect can lead to a login page, whose status is 200. */
val client: HttpClient = HttpClient.newHttpClient()

/** Writes a string as JSON. Use a JSON library instead if your app has one. */
fun json(text: String): String = text.asSequence().joinToString("", "\"", "\"") {
    if (it < ' ' || it == '"' || it == '\\') "\\u%04x".format(it.code) else it.toString()
}

fun send(address: String, body: String): HttpResponse<String> {
    val request = HttpRequest.newBuilder(URI("$address/plants"))
        .header("Authorization", "Bearer ${System.getenv("ACCESS_TOKEN")}")
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build()
    val response = client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
    return response.orTimeout(20, TimeUnit.SECONDS).join() // longer than the deadline of the service, which is 15 s
}

/** The error number. The status when the body has none, as in a response of a proxy. */
fun codeOf(response: HttpResponse<String>): Int =
    Regex("\"error\"\\s*:\\s*(\\d+)").find(response.body())?.groupValues?.get(1)?.toIntOrNull() ?: response.statusCode()

/** 0 for the date of a proxy. */
fun retryAfterMs(response: HttpResponse<String>): Long =
    response.headers().firstValue("Retry-After").orElse("").toDoubleOrNull()
        ?.let { (it.coerceIn(0.0, MAX_RETRY_AFTER_S) * 1000).toLong() } ?: 0

/** Saves a body before it is sent. */
fun saveNewBody(file: File, name: String) {
    val new = File("$file.new")
    new.writeText("""{"id":${SecureRandom().nextLong()},"name":${json(name)}}""")
    Files.move(new.toPath(), file.toPath())
}

/** Returns the saved body, and its id. */
fun savedBody(file: File): Pair<String, String> = try {
    val body = file.readText()
    val (id) = checkNotNull(Regex("(?s)\\{\\s*\"id\"\\s*:\\s*(-?\\d+)\\D.*}").matchEntire(body)).destructured
    body to id
} catch (failure: Exception) {
    throw IllegalStateException("$file: expected a saved body. To create another plant, remove the file.", failure)
}

fun createPlant(address: String, body: String, mayBeSent: Boolean): String {
    var unknown = mayBeSent
    for (attempt in 1..MAX_ATTEMPTS) {
        var delayMs = Random.nextLong(100L shl attempt)
        try {
            val response = send(address, body)
            val status = response.statusCode()
            val code = codeOf(response)
            delayMs += retryAfterMs(response)
            when {
                status == 200 || (code == 4006 && unknown) -> return "stored"
                status == 429 || code in NOT_STORED -> {}
                code == 5000 -> return "unknown" // a bug, which a retry would meet again
                status >= 500 -> unknown = true
                unknown -> return "unknown"
                else -> return "refused $code"
            }
        } catch (failure: CompletionException) { // no connection, a broken one, a time-out
            unknown = true
        }
        if (attempt < MAX_ATTEMPTS) Thread.sleep(delayMs)
    }
    return if (unknown) "unknown" else "not stored"
}

fun main(args: Array<String>) {
    val file = File(args[2])
    val mayBeSent = file.exists()
    if (!mayBeSent) saveNewBody(file, args[1])
    val (body, id) = savedBody(file)
    val outcome = createPlant(args[0], body, mayBeSent)
    if (outcome == "stored" || outcome.startsWith("refused")) file.delete()
    println("$id $outcome")
    exitProcess(if (outcome == "stored") 0 else 1)
}
