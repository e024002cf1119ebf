// Creates a plant with a random id: ACCESS_TOKEN=… create-plant http://127.0.0.1:3000 'Monstera deliciosa' body.json
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
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.intOrNull
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import kotlinx.serialization.json.put

const val MAX_ATTEMPTS = 6
const val MAX_RETRY_AFTER_S = 60.0

/** Nothing was stored, and the same request can succeed later. */
val NOT_STORED = setOf(4080, 5030, 5032)

/** Does not follow redirects, by default: a redirect can lead to a login page, whose status is 200. */
val client: HttpClient = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

fun send(address: String, body: String): HttpResponse<String> {
    val request = HttpRequest.newBuilder(URI("$address/plants"))
        .header("Authorization", "Bearer ${System.getenv("ACCESS_TOKEN")}")
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build()
    val response = client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
    return response.orTimeout(20, TimeUnit.SECONDS).join() // longer than the deadline of the service, which is 15 s
}

/** The members of a JSON object; none for a page of a proxy. */
fun membersOf(text: String): Map<String, JsonElement> = try {
    Json.parseToJsonElement(text).jsonObject
} catch (failure: IllegalArgumentException) { // not JSON, or not an object
    emptyMap()
}

/** 0 for the date of a proxy. */
fun retryAfterMs(response: HttpResponse<String>): Long =
    response.headers().firstValue("Retry-After").orElse("").toDoubleOrNull()
        ?.let { (it.coerceIn(0.0, MAX_RETRY_AFTER_S) * 1000).toLong() } ?: 0

/** A body that was saved before it was sent. */
class Saved(val body: String) {
    private val plant = Json.parseToJsonElement(body).jsonObject
    val id = plant.getValue("id").jsonPrimitive.long
    val name = plant.getValue("name")
}

fun saveNewBody(file: File, name: String) {
    val plant = buildJsonObject {
        put("id", SecureRandom().nextLong())
        put("name", name)
    }
    val new = File("$file.new")
    new.writeText("$plant")
    Files.move(new.toPath(), file.toPath())
}

fun savedIn(file: File): Saved = try {
    Saved(file.readText())
} catch (failure: Exception) {
    throw IllegalStateException("$file: expected a saved body. To create another plant, remove the file.", failure)
}

fun createPlant(address: String, saved: Saved, mayBeSent: Boolean): String {
    var unknown = mayBeSent
    for (attempt in 1..MAX_ATTEMPTS) {
        var delayMs = Random.nextLong(100L shl attempt)
        try {
            val response = send(address, saved.body)
            val status = response.statusCode()
            val members = membersOf(response.body())
            val code = (members["error"] as? JsonPrimitive)?.intOrNull ?: status // a proxy sends no error number
            delayMs += retryAfterMs(response)
            when {
                status == 200 && members["name"] == saved.name -> return "stored"
                status < 300 -> unknown = true // a page of a proxy
                code == 4006 && unknown -> return "stored"
                status == 429 || code in NOT_STORED -> {}
                code == 5000 -> return "unknown" // a bug, which a retry would meet again
                status >= 500 -> unknown = true
                unknown -> return "unknown"
                else -> return "refused $code"
            }
        } catch (failure: CompletionException) { // no connection, a broken one, a time-out
            System.err.println("no response: ${failure.cause}")
            unknown = true
        }
        if (attempt < MAX_ATTEMPTS) Thread.sleep(delayMs)
    }
    return if (unknown) "unknown" else "not stored"
}

fun main(args: Array<String>) {
    if (args.size != 3 || System.getenv("ACCESS_TOKEN") == null) {
        System.err.println("usage: ACCESS_TOKEN=… create-plant ADDRESS NAME FILE")
        exitProcess(2)
    }
    val file = File(args[2])
    val mayBeSent = file.exists()
    if (!mayBeSent) saveNewBody(file, args[1])
    val saved = savedIn(file)
    val outcome = createPlant(args[0], saved, mayBeSent)
    if (outcome == "stored" || outcome.startsWith("refused")) file.delete()
    println("${saved.id} $outcome")
    exitProcess(if (outcome == "stored") 0 else 1)
}
